"""A small chat model from package files, behind an OpenAI-compatible server: for evaluation only, never the product."""

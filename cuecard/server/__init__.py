"""The gateway: an OpenAI-compatible endpoint, sessions as JSON, and a console, over the two graphs in this process."""

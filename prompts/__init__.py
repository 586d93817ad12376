"""The words we say to models, each in a Markdown file of its own."""

from prompts.loader import Prompt, PromptError, load_prompt

__all__ = ["Prompt", "PromptError", "load_prompt"]

"""The turn that needs a slow tool: what a caller waits when it was predicted, and when it was not."""

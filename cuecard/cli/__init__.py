"""The `cuecard` command. Each command is a file of its own, found by name and imported only when it is called."""

from cuecard.cli.discovery import main

__all__ = ["main"]

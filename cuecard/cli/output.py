"""How commands print: people's text to the terminal, one JSON object as the last line with --json."""

import sys
from collections.abc import Mapping
from typing import Any

import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

console = Console(highlight=False)
stderr = Console(stderr=True, highlight=False)


def print_json(data: Mapping[str, Any]) -> None:
    """One line, keys in the order given; numpy numbers are fine."""
    sys.stdout.flush()
    line = orjson.dumps(dict(data), option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS)
    sys.stdout.write(line.decode() + "\n")
    sys.stdout.flush()


def progress() -> Progress:
    """A bar with time left, on stderr, gone when done; silent where stderr is not a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal)

"""What a check found, and the lines of the file it was found in."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Literal, NamedTuple

import yaml

Part = str | int
Place = tuple[Part, ...]
"""Keys and list positions from the top of the document: ("actions", "greet", "replies", 0)."""
Level = Literal["error", "warning"]


class Finding(NamedTuple):
    file: str
    line: int
    level: Level
    message: str
    """What is wrong, as a sentence."""
    remedy: str
    """How to mend it, as a sentence."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.level}: {self.message} {self.remedy}"


class Lines:
    """Line numbers of a YAML document by place."""

    def __init__(self, root: yaml.Node | None) -> None:
        self._lines: dict[Place, int] = {(): 1}
        self.duplicates: list[Place] = []
        """Keys that stand twice in one mapping; their line is that of the second."""
        if root is not None:
            self._walk(root, ())

    def of(self, place: Place) -> int:
        """The line of this place, or of the nearest one around it that is in the file."""
        while place not in self._lines:
            place = place[:-1]
        return self._lines[place]

    def _walk(self, node: yaml.Node, place: Place) -> None:
        self._lines.setdefault(place, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, value in node.value:
                name = str(key.value)
                if name in seen:
                    self.duplicates.append((*place, name))
                seen.add(name)
                self._lines[(*place, name)] = key.start_mark.line + 1
                self._walk(value, (*place, name))
        elif isinstance(node, yaml.SequenceNode):
            for position, value in enumerate(node.value):
                self._walk(value, (*place, position))


class Findings:
    """Collects findings of one file; checks name places, and this knows the lines."""

    def __init__(self, file: str, lines: Lines) -> None:
        self._file = file
        self._lines = lines
        self._found: list[Finding] = []

    def error(self, place: Place, message: str, remedy: str) -> None:
        self._add("error", place, message, remedy)

    def warning(self, place: Place, message: str, remedy: str) -> None:
        self._add("warning", place, message, remedy)

    def _add(self, level: Level, place: Place, message: str, remedy: str) -> None:
        self._found.append(Finding(self._file, self._lines.of(place), level, message, remedy))

    def __iter__(self) -> Iterator[Finding]:
        """By line, each once."""
        return iter(sorted(dict.fromkeys(self._found), key=lambda finding: (finding.line, finding.message)))


def nearest(name: str, known: Sequence[str], otherwise: str = "") -> str:
    """A remedy for an unknown name: the one that was probably meant, or those there are."""
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    if close:
        return f"Did you mean {close[0]!r}?"
    if not known:
        return otherwise or "None is declared yet; declare it first."
    shown = ", ".join(sorted(known)[:12]) + (", ..." if len(known) > 12 else "")
    return f"There are {shown}." + (f" {otherwise}" if otherwise else "")

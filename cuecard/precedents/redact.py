"""Takes out of a caller's words what could name a person, before anything is stored for learning."""

import re
from collections.abc import Mapping, Sequence

MIN_FACT_CHARS = 2
"""Shorter values (a "y" for yes) would blank letters all over a sentence."""
MIN_PART_CHARS = 3

PATTERNS: tuple[tuple[str, str], ...] = (
    (r"\b[\w.+-]+\s?@\s?[\w-]+(?:\.[\w-]+)+\b", "{email}"),
    (r"\b(?:https?://|www\.)\S+", "{link}"),
    # Phone numbers, cards, policy and account numbers, dates, postcodes: a run with at least three digits in it.
    (r"(?<!\w)\+?[A-Za-z]{0,4}-?\d(?:[\s()./-]{0,2}\d){2,}\w*", "{number}"),
    # Numbers as they are spoken: three or more digit words in a row.
    (
        r"\b(?:(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple)[\s,-]+){2,}"
        r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)\b",
        "{number}",
    ),
    (r"\d+", "{digits}"),
)
"""(regular expression, what stands there instead), in the order they are applied."""


_MARK = 0xE000
"""First of the private-use characters that hold a fact's place while the patterns run, which would maul its name."""


class Redactor:
    """Replaces known personal values by `{fact_name}` and everything `patterns` finds by their stand-ins."""

    def __init__(self, patterns: Sequence[tuple[str, str]] = PATTERNS) -> None:
        self._patterns = [(re.compile(pattern, re.IGNORECASE), stand_in) for pattern, stand_in in patterns]

    def redact(self, text: str, facts: Mapping[str, str]) -> str:
        """The text without them. Of a value of several words, each longer word is taken out by itself too."""
        names = [name for name, value in facts.items() if len(value.strip()) >= MIN_FACT_CHARS]
        marks = {form: chr(_MARK + index) for index, name in enumerate(names) for form in _forms(facts[name])}
        for form in sorted(marks, key=len, reverse=True):
            text = _pattern(form).sub(marks[form], text)
        for pattern, stand_in in self._patterns:
            text = pattern.sub(stand_in, text)
        for index, name in enumerate(names):
            text = text.replace(chr(_MARK + index), "{" + name + "}")
        return text


def _forms(value: str) -> set[str]:
    """The value, and its longer words when there are several."""
    return {value.strip(), *(part for part in value.split() if len(part) >= MIN_PART_CHARS and part.isalpha())}


def _pattern(value: str) -> re.Pattern[str]:
    """The value as callers write it: in any case, with or without spaces and dashes between its characters."""
    characters = [character for character in value if character.isalnum()] or [*value]
    body = r"[\s\W_]{0,3}".join(re.escape(character) for character in characters)
    return re.compile(rf"(?<!\w){body}(?!\w)", re.IGNORECASE)

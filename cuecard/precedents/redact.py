"""Takes out of a caller's words what could name a person, before anything is stored for learning."""

import re
from collections.abc import Mapping, Sequence

MIN_FACT_CHARS = 2
"""Shorter values (a "y" for yes) would blank letters all over a sentence."""

PATTERNS: tuple[tuple[str, str], ...] = (
    (r"\b[\w.+-]+\s?@\s?[\w-]+(?:\.[\w-]+)+\b", "{email}"),
    (r"\b(?:https?://|www\.)\S+", "{link}"),
    # Phone numbers, cards, policy and account numbers, dates, postcodes: a run with at least three digits in it.
    (r"(?<!\w)\+?[A-Za-z]{0,4}-?\d(?:[\s()./-]?\d){2,}\w*", "{number}"),
    # Numbers as they are spoken: three or more digit words in a row.
    (
        r"\b(?:(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple)[\s,-]+){2,}"
        r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)\b",
        "{number}",
    ),
    (r"\d+", "{digits}"),
)
"""(regular expression, what stands there instead), in the order they are applied."""


class Redactor:
    """Replaces known personal values by `{fact_name}` and everything `patterns` finds by their stand-ins."""

    def __init__(self, patterns: Sequence[tuple[str, str]] = PATTERNS) -> None:
        self._patterns = [(re.compile(pattern, re.IGNORECASE), stand_in) for pattern, stand_in in patterns]

    def redact(self, text: str, facts: Mapping[str, str]) -> str:
        """The text without them; facts first, longest value first, so that a name inside another survives nowhere."""
        for name, value in sorted(facts.items(), key=lambda fact: -len(fact[1])):
            if len(value.strip()) >= MIN_FACT_CHARS:
                text = _spelled(value).sub("{" + name + "}", text)
        for pattern, stand_in in self._patterns:
            text = pattern.sub(stand_in, text)
        return text


def _spelled(value: str) -> re.Pattern[str]:
    """The value as callers write it: any case, with or without the spaces and dashes between its parts."""
    characters = [character for character in value if character.isalnum()]
    if not characters or len(characters) < MIN_FACT_CHARS:
        return re.compile(r"(?<!\w)" + re.escape(value.strip()) + r"(?!\w)", re.IGNORECASE)
    body = r"[\s\W_]{0,3}".join(re.escape(character) for character in characters)
    return re.compile(rf"(?<!\w){body}(?!\w)", re.IGNORECASE)

"""Facts out of the caller's words: values that fit a procedure's patterns, and corrections of them.

Only the procedure's patterns are ever compiled; the caller's words are matched, never used as a pattern or a format.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from cuecard.belief.repairs import REPAIR, negated, repaired, said_anew
from sops.models import Fact, Procedure
from sops.values import normalise, spoken_date, spoken_digits, spoken_number

MAX_CHARS = 4000
WINDOW_CHARS = 400
OVERLAP_CHARS = 120
"""Patterns see at most a window at a time, so that a pattern of quadratic cost stays linear in the text."""
_FILLER = re.compile(r"(?i)(?<![\w-]),?\s?\b(?:uhm?|um|erm?|hmm+)\b,?(?![\w-])")
"""Sounds of thinking in the middle of a date or a number are no part of it."""
_SPACE = re.compile(r"\s+")
_RUN = re.compile(r"(.)\1{24,}")
_AFTER_MONTH = re.compile(
    r"(?i)\b(?:january|february|march|april|may|june|july|august|september|october|november|december),? $"
)
_ASKING = re.compile(
    r"(?i)^(?:and |so |but |okay |ok |um |uh |er )*(?:what|how|which|why|when|who|is|are|does|do|did)\b"
)


class FactUpdate(NamedTuple):
    """A fact that is new, or that the caller has put right."""

    name: str
    value: str
    corrected: bool = False
    """True: another value was known, and whatever was fetched with it is void."""


@dataclass(frozen=True, slots=True)
class _Found:
    name: str
    value: str
    start: int
    end: int
    asked: bool


class FactExtractor:
    """Reads the facts of one procedure out of utterances. Built once; immutable and without memory of calls."""

    def __init__(self, procedure: Procedure) -> None:
        self._facts = procedure.facts
        self._patterns = {name: [re.compile(p) for p in fact.patterns] for name, fact in self._facts.items()}
        self._after = {
            name: {action: re.compile(p) for action, p in fact.after.items()} for name, fact in self._facts.items()
        }
        self._choices = {name: _choices(fact) for name, fact in self._facts.items() if fact.choices}
        self._asks = {name: frozenset(action.asks) for name, action in procedure.actions.items()}

    def extract(
        self, text: str, *, last_action: str | None = None, known: Mapping[str, str] | None = None
    ) -> list[FactUpdate]:
        """New and changed facts in the order spoken; a value that is already known is not repeated.

        `last_action` is the step the caller answers: what it asked for is believed before what it did not.
        """
        words = _plain(text)
        have = known or {}
        asked = self._asks.get(last_action or "", frozenset())
        found = _without_overlaps(list(self._find(words, last_action or "", asked)))
        by_name: dict[str, list[_Found]] = {}
        for one in sorted(found, key=lambda one: one.start):
            by_name.setdefault(one.name, []).append(one)
        chosen = {name: _choose(words, all_, self._facts[name].keep) for name, all_ in by_name.items()}
        said = {name: value for name, value in chosen.items() if value is not None}
        updates = [FactUpdate(n, v, corrected=n in have) for n, v in said.items() if v != have.get(n)]
        # A value said again in full is not put right in part by whatever other numbers stand near it.
        updates += [FactUpdate(n, v, corrected=True) for n, v in self._mended(words, have, set(said), asked)]
        return updates

    def _mended(
        self, words: str, have: Mapping[str, str], whole: set[str], asked: frozenset[str]
    ) -> Iterator[tuple[str, str]]:
        """Known values of which only a part was put right: "no, it's 882 not 883"."""
        order = sorted((name for name in have if name in self._facts), key=lambda name: name not in asked)
        for name in order:
            if name in whole:
                continue
            value = repaired(words, have[name], self._facts[name].keep, name in asked)
            if value is not None and value != have[name] and self._fits(name, value):
                yield name, value
                return

    def _fits(self, name: str, value: str) -> bool:
        """A mended value must still be one that the fact's own patterns could have found."""
        return any(match.group() for pattern in self._patterns[name] if (match := pattern.search(value)))

    def _find(self, words: str, last_action: str, asked: frozenset[str]) -> Iterator[_Found]:
        for name, fact in self._facts.items():
            after = self._after[name].get(last_action)
            for pattern in [*([after] if after else []), *self._patterns[name]]:
                believed = name in asked or pattern is after
                for start, end in _spans(pattern, words):
                    value = _value(words[start:end], fact)
                    if value is not None and not (fact.keep == "number" and _is_year(words, start, value)):
                        yield _Found(name, value, start, end, believed)
            if name in self._choices and not (_ASKING.match(words) and fact.choices):
                yield from self._chosen(name, words, name in asked)

    def _chosen(self, name: str, words: str, asked: bool) -> Iterator[_Found]:
        for canonical, pattern in self._choices[name]:
            for start, end in _spans(pattern, words):
                yield _Found(name, canonical, start, end, asked)


def _plain(text: str) -> str:
    """At most MAX_CHARS, with single spaces; endless runs of one character are cut, since patterns choke on them."""
    plain = _SPACE.sub(" ", _FILLER.sub(" ", text[:MAX_CHARS])).strip()
    return _RUN.sub(lambda match: match[1] * 24, plain)


def _spans(pattern: re.Pattern[str], words: str) -> Iterator[tuple[int, int]]:
    """Where group 1 (or the whole) matches, window by window."""
    for offset in range(0, max(len(words), 1), WINDOW_CHARS - OVERLAP_CHARS):
        for match in pattern.finditer(words, offset, min(offset + WINDOW_CHARS, len(words))):
            group = 1 if pattern.groups and match.group(1) is not None else 0
            yield match.span(group)
        if offset + WINDOW_CHARS >= len(words):
            return


def _value(matched: str, fact: Fact) -> str | None:
    """The stored form, or None where the words turn out not to be a value of that kind."""
    match fact.keep:
        case "date" if spoken_date(matched) is None:
            return None
        case "digits" if not spoken_digits(matched):
            return None
        case "number" if spoken_number(matched) is None:
            return None
    return normalise(matched, fact.keep) or None


def _is_year(words: str, start: int, value: str) -> bool:
    """Whether an amount is the end of a date: somebody puts a birthday right where a mileage was asked for."""
    return (
        value[:2] in {"19", "20"}
        and len(value) == 4
        and _AFTER_MONTH.search(words[max(0, start - 12) : start]) is not None
    )


def _choices(fact: Fact) -> list[tuple[str, re.Pattern[str]]]:
    out = []
    for canonical, phrases in fact.choices.items():
        longest_first = sorted({*phrases, canonical.replace("_", " ")}, key=len, reverse=True)
        alternatives = "|".join(re.escape(phrase).replace(r"\ ", r"\s") for phrase in longest_first)
        out.append((canonical, re.compile(rf"(?i)(?<!\w)(?:{alternatives})(?!\w)")))
    return out


def _without_overlaps(found: list[_Found]) -> list[_Found]:
    """Words belong to one fact: one that was asked for, else the one that reads the most of them."""
    kept: list[_Found] = []
    for one in sorted(found, key=lambda one: (not one.asked, one.start - one.end, one.start)):
        if all(one.end <= other.start or other.end <= one.start for other in kept):
            kept.append(one)
    return kept


def _choose(words: str, candidates: list[_Found], keep: str) -> str | None:
    """The value that stands: never one that is negated, and what follows the last repair where there is one."""
    standing = [one for one in candidates if not negated(words, one.start)]
    if not standing:
        return None
    repairs = [match.end() for match in REPAIR.finditer(words)]
    if not repairs:
        return standing[0].value
    after = [one for one in standing if one.start >= repairs[-1]]
    chosen = after[0] if after else standing[-1]
    tail = chosen.end < repairs[-1] and keep == "digits"
    return (said_anew(words[repairs[-1] :], chosen.value) if tail else None) or chosen.value

"""Caller speech as tokens: lower case, fillers marked, digits and spoken digits alike, clauses apart.

English only, like the embeddings. Everything here is linear in the length of the text.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

NUMBER = "#"
"""Stands for any run of digits or spoken digits, so that no value becomes a feature."""

FILLERS = frozenset({"uh", "uhh", "uhm", "um", "umm", "er", "erm", "eh", "ah", "hmm", "hm", "mm", "mmm"})
DIGIT_WORDS = {
    "zero": "0",
    "oh": "0",
    "o": "0",
    "nought": "0",
    "naught": "0",
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
}
TEENS = {
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "thirteen": 13,
    "fourteen": 14,
    "fifteen": 15,
    "sixteen": 16,
    "seventeen": 17,
    "eighteen": 18,
    "nineteen": 19,
}
TENS = {
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fourty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}
REPEATS = {"double": 2, "triple": 3, "treble": 3}
_NUMBER_WORDS = frozenset(DIGIT_WORDS) | frozenset(TEENS) | frozenset(TENS) | frozenset(REPEATS)

_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[?!.,;]")
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "`": "'", "´": "'"})
_CLAUSE_END = frozenset("?!.;")
_JOINTS = frozenset({"but", "and", "so", "because", "anyway", "also", "actually", "though", "then", "or"})

MIN_CLAUSE_WORDS = 3


def tokens(text: str, limit: int = 200) -> list[str]:
    """Words and sentence marks in order, at most `limit`; number runs become NUMBER, fillers go."""
    found: list[str] = []
    for match in _TOKEN.finditer(text.lower().translate(_APOSTROPHES)):
        word = match.group()
        if word in FILLERS:
            continue
        found.append(NUMBER if word[0].isdigit() else word)
        if len(found) >= limit:
            break
    return list(_merge_numbers(found))


def _merge_numbers(found: list[str]) -> Iterator[str]:
    """Two or more number words in a row are one NUMBER; a lone "one" or "oh" stays a word."""
    run: list[str] = []
    for word in [*found, ""]:
        if word == NUMBER or word in _NUMBER_WORDS:
            run.append(word)
            continue
        if run:
            if len(run) > 1 or run[0] == NUMBER:
                yield NUMBER
            else:
                yield run[0]
            run = []
        if word:
            yield word


class Clause(NamedTuple):
    text: str
    words: int


def clauses(text: str, limit: int = 6) -> list[Clause]:
    """The utterance's parts, split at sentence marks and at joints such as "but"; the last `limit` of them.

    Speech recognisers often leave the marks out, hence the joints. Parts of under three words lean on a neighbour.
    """
    parts: list[list[str]] = [[]]
    for word in text.split():
        bare = word.lower().strip(",.;!?")
        if bare in _JOINTS and len(parts[-1]) >= MIN_CLAUSE_WORDS:
            parts.append([])
        parts[-1].append(word)
        if word[-1] in _CLAUSE_END and len(parts[-1]) >= MIN_CLAUSE_WORDS:
            parts.append([])
    merged: list[list[str]] = []
    for part in parts:
        if merged and len(part) < MIN_CLAUSE_WORDS:
            merged[-1] += part
        elif part:
            merged.append(part)
    return [Clause(" ".join(part), len(part)) for part in merged[-limit:]]

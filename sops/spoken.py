"""Named pieces that a fact's pattern may use, so that nobody writes the regular expression of a spoken date twice.

`<date>` a full day, `<digits 6>` that many digits however they are read out, `<amount>` a number of things,
`<time>` a time of day, `<name>` one to three words of a name. Case never matters.
"""

import re
from functools import cache

_ONES = "one|two|three|four|five|six|seven|eight|nine"
_DIGIT = rf"(?:zero|oh|o|nought|naught|{_ONES}|\d)"
_DOUBLE, _TRIPLE = "double", "(?:triple|treble)"
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = "twenty|thirty|forty|fourty|fifty|sixty|seventy|eighty|ninety"
_MONTH = (
    "(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?"
)
_ORDINAL_ONES = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth"
_ORDINAL = (
    rf"(?:{_ORDINAL_ONES}|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth"
    rf"|nineteenth|twentieth|thirtieth|(?:twenty|thirty)[\s-](?:{_ORDINAL_ONES}))"
)
_DAY = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?|{_ORDINAL}|(?:twenty|thirty)[\s-](?:{_ONES})|{_TEENS}|{_ONES}|twenty|thirty)"
_WORD_YEAR = (
    rf"(?:(?:nineteen|twenty)[\s-]+(?:(?:oh|o|nought|hundred(?:\s+and)?)[\s-]+(?:{_ONES})|hundred"
    rf"|(?:{_TENS})(?:[\s-](?:{_ONES}))?|{_TEENS})"
    rf"|two\s+thousand(?:[\s-]+(?:and\s+)?(?:{_TEENS}|(?:{_TENS})(?:[\s-](?:{_ONES}))?|{_ONES}))?"
    rf"|(?:{_TENS})(?:[\s-](?:{_ONES}))?)"
)
_YEAR = rf"(?:(?:19|20)\d{{2}}|\d{{2}}|{_WORD_YEAR})(?!\w)"

_GAP = r"[\s,-]+"
_PARTS = {
    1: _DIGIT,
    2: rf"(?:{_DOUBLE}\s+{_DIGIT}|(?:{_TENS})(?:[\s-](?:{_ONES}))?|{_TEENS}|\d\d)",
    3: rf"(?:{_TRIPLE}\s+{_DIGIT}|\d\d\d)",
}
"""How one, two or three digits are read out in one breath."""
MOST_SPELLED = 8
"""Longer numbers are only found as digits or one word a digit: the ways to group them grow too many."""

DATE = (
    r"(?:(?<!\d)\d{1,2}\s?[/.-]\s?\d{1,2}\s?[/.-]\s?(?:19|20)?\d{2}(?!\d)|(?<!\d)(?:19|20)\d{2}-\d{2}-\d{2}(?!\d)"
    rf"|\b{_DAY},?\s+(?:of\s+)?{_MONTH},?\s+(?:of\s+)?{_YEAR}"
    rf"|\b{_MONTH}\s+(?:the\s+)?{_DAY},?\s+{_YEAR}"
    rf"|\b{_ORDINAL},?\s+(?:of\s+)?(?:the\s+)?{_ORDINAL},?\s+(?:of\s+)?{_YEAR})"
)
AMOUNT = (
    r"(?:(?<![\d/])\d{1,3}(?:,\d{3})+(?!\d)|(?<![\d/])\d+(?:\.\d+)?\s?k\b|(?<![\d/])\d+(?:\.\d+)?\s+thousand\b"
    r"|(?<![\d/])\d+(?![\d/])"
    rf"|\b(?:(?:{_TENS})(?:[\s-](?:{_ONES}))?|{_TEENS}|{_ONES}|a)(?:\s+and\s+a\s+half)?"
    rf"(?:\s+(?:hundred|thousand))+(?:\s+(?:and\s+)?(?:{_ONES})\s+hundred)?\b"
    rf"|\b(?:(?:{_TENS})(?:[\s-](?:{_ONES}))?|{_TEENS}|{_ONES})\b)"
)
TIME = (
    r"(?:(?<![\d:])(?:[01]?\d|2[0-3])[:.][0-5]\d(?:\s?[ap]\.?m\b\.?)?|(?<![\d:])\d{1,2}\s?[ap]\.?m\b\.?"
    rf"|\b(?:half\s+past|quarter\s+past|quarter\s+to)\s+(?:\d{{1,2}}|{_ONES}|ten|eleven|twelve)\b"
    rf"|\b(?:\d{{1,2}}|{_ONES}|ten|eleven|twelve)(?:\s+(?:o'?clock|thirty|fifteen|forty[\s-]five))+(?:\s?[ap]\.?m\b\.?)?)"
)
_NOT_A_NAME = (
    "about|regarding|for|the|a|an|not|my|your|and|calling|ringing|phoning|here|from|i|i'm|it|it's|is|was|just|to|on|with"
    "|but|so|born|date|speaking|that|this|in|number|policy|what|going|really|very|doing|getting|one|right"
)
NAME = rf"(?:(?!(?:{_NOT_A_NAME})\b)[a-z][a-z'’-]+(?:\s+(?!(?:{_NOT_A_NAME})\b)[a-z][a-z'’-]+){{0,2}})"

_PIECE = re.compile(r"<(date|digits(?: \d{1,2})?|amount|time|name)>")


class PatternInvalid(ValueError):
    """A pattern uses a piece that does not exist or does not compile."""


def expand(pattern: str) -> str:
    """The pattern with its pieces written out, case-insensitive. Raises PatternInvalid where it does not compile."""
    expanded = _PIECE.sub(lambda match: _piece(match[1]), pattern)
    if not expanded.startswith("(?i"):
        expanded = f"(?i){expanded}"
    try:
        re.compile(expanded)
    except re.error as error:
        raise PatternInvalid(f"the pattern {pattern!r} does not compile: {error}") from error
    return expanded


def _piece(name: str) -> str:
    kind, _, count = name.partition(" ")
    if kind == "digits":
        return _digits(int(count) if count else None)
    return {"date": DATE, "amount": AMOUNT, "time": TIME, "name": NAME}[kind]


def _digits(count: int | None) -> str:
    """Digits in one run, in groups, one by one, or as words: "double four", "seventy one", "nine oh"."""
    if count is None:
        return rf"(?:(?<![\d£$/])\d{{3,}}(?![\d/])|\b(?:{_PARTS[1]}{_GAP}){{2,}}{_PARTS[1]}\b)"
    equal = [rf"\d{{{size}}}(?:[\s-]\d{{{size}}}){{{count // size - 1}}}" for size in _divisors(count)]
    spelled = (
        _spelled(min(count, MOST_SPELLED))
        if count <= MOST_SPELLED
        else _PARTS[1] + rf"(?:{_GAP}{_PARTS[1]}){{{count - 1}}}"
    )
    return rf"(?:(?<![\d£$/])(?:{'|'.join(equal)})(?![\d/])|(?<!\d)\b(?:{spelled})(?!\w)(?!{_GAP}{_PARTS[1]}\b))"


def _divisors(count: int) -> list[int]:
    return [size for size in range(count, 1, -1) if count % size == 0] + [1]


@cache
def _spelled(count: int) -> str:
    """Every way to say that many digits in parts of one, two or three."""
    ways = []
    for size, part in _PARTS.items():
        if size == count:
            ways.append(part)
        elif size < count:
            ways.append(f"{part}{_GAP}{_spelled(count - size)}")
    return f"(?:{'|'.join(reversed(ways))})"

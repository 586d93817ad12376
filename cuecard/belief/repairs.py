"""How callers put things right: "no, it's 882 not 883", "the last digit is a nine", "May, not March"."""

import re

from sops.values import normalise, spoken_digits

REPAIR = re.compile(
    r"(?i)\b(?:i meant?|i mean|make (?:it|that)|should(?: be|'ve been| have been)|correction|scratch that|rather"
    r"|instead|sorry|actually|no wait|wait no|hang on|hold on|no no|my mistake|let me start again|start over)\b"
)
CORRECTING = re.compile(
    r"(?i)\b(?:no|not|nope|wrong|incorrect|isn't|wasn't|meant?|mistake|correction|scratch|sorry|actually|should|change"
    r"|changed|misheard|instead)\b"
)
_NEGATION = re.compile(
    r"(?i)(?<!why )\b(?:not|isn't|wasn't|ain't|never|don't want|do not want|instead of|rather than|other than|said)"
    r"(?: (?:it|the|a|an|to|pay|paying|be|by|that|my|on|in|was|is|do))*\W*$"
)
_SAID_RIGHT = re.compile(r"(?i)\b(?:misheard|told you|already)\b")
_NEGATION_CHARS = 40
_TAIL = re.compile(
    r"(?i)\b(?:(?:last|final) (?:digits?|numbers?|bit|part|ones?|(?:two|three|four) (?:digits |numbers )?(?:is|are))"
    r"|at the end|ends? (?:in|with)|ending)\b"
)
_DATED = re.compile(r"(?i)\b(?:birth\w*|born|date|month|year)\b")

_DIGIT = r"(?:(?:double|triple|treble) )?(?:zero|oh|nought|one|two|three|four|five|six|seven|eight|nine|\d+)"
_DIGITS = re.compile(rf"(?i)\b{_DIGIT}(?:[ ,-]+{_DIGIT})*\b")
_MONTH = re.compile(r"(?i)\b(january|february|march|april|may|june|july|august|september|october|november|december)\b")
_DAY = re.compile(
    r"(?i)\b(?:the )?((?:twenty[ -]|thirty[ -])?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|tenth"
    r"|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|thirtieth"
    r"|\d{1,2}(?:st|nd|rd|th))\b"
)
_YEAR = re.compile(
    r"(?i)\b((?:19|20)\d\d|(?:nineteen|twenty|two thousand)(?: and)?(?:[ -](?:oh|[a-z]+ty|[a-z]+teen|ten|eleven|twelve"
    r"|one|two|three|four|five|six|seven|eight|nine)){1,2})\b"
)


def negated(words: str, start: int) -> bool:
    """Whether the value that starts there is one the caller takes back: "not 883"."""
    before = words[max(0, start - _NEGATION_CHARS) : start]
    match = _NEGATION.search(before)
    if match is None:
        return False
    if match.group().lower().startswith("said"):
        return REPAIR.search(words) is not None and _SAID_RIGHT.search(words) is None
    return True


def repaired(words: str, known: str, keep: str, asked: bool) -> str | None:
    """The known value with the part put right that the words put right, or None where they do no such thing.

    `asked`: the agent had just asked for it, so that a lone "May" or "the fourth" is about it.
    """
    if CORRECTING.search(words) is None and _TAIL.search(words) is None:
        return None
    match keep:
        case "digits":
            return _repaired_digits(words, known)
        case "date" if asked or _DATED.search(words):
            return _repaired_date(words, known)
        case _:
            return None


def _repaired_digits(words: str, known: str) -> str | None:
    """Old digits named ("not 883") are replaced by the new; without them, only digits at the end can be."""
    runs = [(match.start(), spoken_digits(match.group())) for match in _DIGITS.finditer(words)]
    runs = [(start, digits) for start, digits in runs if digits and len(digits) < len(known)]
    new = [digits for start, digits in runs if not negated(words, start)]
    old = [digits for start, digits in runs if negated(words, start)]
    if not new:
        return None
    if old and known.count(old[-1]) and len(old[-1]) == len(new[-1]):
        head, _, tail = known.rpartition(old[-1])
        return head + new[-1] + tail
    if _TAIL.search(words) and not old:
        return known[: -len(new[-1])] + new[-1]
    return None


def said_anew(words: str, value: str) -> str | None:
    """The value with its last digits as the words that follow it say: "882431, no wait, four three two"."""
    match = _DIGITS.match(words.lstrip(" ,.-").removeprefix("it's ").removeprefix("that's "))
    digits = spoken_digits(match.group()) if match else ""
    return value[: -len(digits)] + digits if 1 < len(digits) < len(value) else None


def _repaired_date(words: str, known: str) -> str | None:
    """One part of "28 May 1968" said anew: its day, its month or its year."""
    parts = known.split()
    if len(parts) != 3:
        return None
    changed = False
    for place, pattern in enumerate((_DAY, _MONTH, _YEAR)):
        said = [match for match in pattern.finditer(words) if not negated(words, match.start(1))]
        if said and CORRECTING.search(words):
            parts[place] = said[-1].group(1)
            changed = True
    if not changed:
        return None
    value = normalise(" ".join(parts), "date")
    return value if len(value.split()) == 3 else None

"""Turns what a caller said into the one form a value is stored and compared in.

Speech recognisers write numbers as words, digits or both; a back office knows one form. English.
"""

import re
from typing import Literal

Keep = Literal["asis", "digits", "number", "date", "lower", "title", "upper"]

# fmt: off
_UNDER_TWENTY = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINAL_WORDS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth",
)
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)
# fmt: on
_SMALL = {
    **{word: value for value, word in enumerate(_UNDER_TWENTY)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
    "fourty": 40,
}
_ORDINALS = {word: value for value, word in enumerate(_ORDINAL_WORDS, start=1)} | {"thirtieth": 30}
_SPOKEN_ZERO = frozenset({"oh", "o", "nought", "naught", "nil"})
_TIMES = {"double": 2, "triple": 3, "treble": 3}
_SCALES = {"hundred": 100, "thousand": 1000, "k": 1000}
_MONTH_BY_START = {month[:3].lower(): number for number, month in enumerate(MONTHS, start=1)}
_LAST_DAY = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
CENTURY_TURN = 30
"""Two-digit years below this are 20xx; birth years rarely go the other way."""


def normalise(value: str, keep: Keep) -> str:
    """The stored form of a value; what can't be read that way is returned trimmed, so that nothing is lost."""
    text = " ".join(value.split())
    match keep:
        case "digits":
            return spoken_digits(text) or text
        case "number":
            amount = spoken_number(text)
            return text if amount is None else str(amount)
        case "date":
            return spoken_date(text) or text
        case "lower":
            return text.lower()
        case "title":
            return text.title()
        case "upper":
            return text.upper()
        case _:
            return text


def spoken_digits(text: str) -> str:
    """The digits as read out: "double eight two" is "882", "forty four nineteen" "4419". Other words are no digits."""
    out: list[str] = []
    times = 1
    ten = 0
    for word in _words(text):
        if word in _TIMES:
            times = _TIMES[word]
            continue
        digits = _digits_of(word)
        if ten and len(digits) == 1 and digits != "0" and not word.isdigit():
            out[-1] = str(ten + int(digits))
        elif digits:
            out.append(digits[0] * (times - 1) + digits)
        ten = _SMALL[word] if word in _TENS else 0
        times = 1
    return "".join(out)


def _digits_of(word: str) -> str:
    if word.isdigit():
        return word
    if word in _SPOKEN_ZERO:
        return "0"
    return str(_SMALL[word]) if word in _SMALL else ""


def spoken_number(text: str) -> int | None:
    """An amount: "twelve thousand" and "12k" are 12000, "nine and a half thousand" 9500; None when there is none."""
    compact = re.sub(r"(?<=\d),(?=\d{3})", "", text.lower())
    match = re.search(r"(\d+(?:\.\d+)?)\s*(k|thousand)?\b", compact)
    if match:
        return round(float(match[1]) * (1000 if match[2] else 1))
    words = _words(compact)
    half = "half" in words
    total = current = 0
    seen = False
    for word in words:
        if word in _SMALL:
            current += _SMALL[word]
            seen = True
        elif word in _SCALES:
            scale = _SCALES[word]
            amount = max(current, 1) * scale + (scale // 2 if half else 0)
            half = False
            if scale == 1000:
                total, current = total + amount, 0
            else:
                current = amount
            seen = True
    return total + current if seen else None


def spoken_date(text: str) -> str | None:
    """A day as "28 May 1968", from "28/5/68", "1968-05-28" or "the twenty eighth of May nineteen sixty eight".

    Numbers alone are read day first; month first where the day can be nothing else. None when it is no date.
    """
    iso = re.search(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b", text)
    if iso:
        return _day(int(iso[3]), int(iso[2]), int(iso[1]))
    plain = re.search(r"\b(\d{1,2})\s?[/.\-\s]\s?(\d{1,2})\s?[/.\-\s]\s?(\d{4}|\d{2})\b", text)
    if plain:
        day, month = int(plain[1]), int(plain[2])
        if month > 12 >= day:
            day, month = month, day
        return _day(day, month, _year(int(plain[3])))
    return _named_date(_words(text))


def _named_date(words: list[str]) -> str | None:
    at = next((i for i, word in enumerate(words) if word[:3] in _MONTH_BY_START and _is_month(word)), None)
    if at is None:
        return _numbered_date(words)
    month = _MONTH_BY_START[words[at][:3]]
    before, after = _numbers(words[:at]), _numbers(words[at + 1 :])
    if before:
        day, rest = before[-1], after
    elif after:
        day, rest = after[0], after[1:]
    else:
        return None
    year = _joined_year(rest)
    return None if year is None else _day(day, month, year)


def _numbered_date(words: list[str]) -> str | None:
    """ "The first of the sixth eighty four": two ordinals and a year."""
    numbers = _numbers(words)
    ordinals = [word for word in words if word in _ORDINALS]
    if len(ordinals) < 2 or len(numbers) < 3:
        return None
    year = _joined_year(numbers[2:])
    return None if year is None else _day(numbers[0], numbers[1], year)


def _is_month(word: str) -> bool:
    return word in {"sept"} or any(month.lower() == word or month[:3].lower() == word for month in MONTHS)


def _numbers(words: list[str]) -> list[int]:
    """Numbers in order, tens and ones joined: ["twenty", "third", "nineteen", "eighty", "four"] is [23, 19, 84]."""
    out: list[int] = []
    open_ten = False
    for word in words:
        bare = re.sub(r"(?<=\d)(?:st|nd|rd|th)$", "", word)
        if bare.isdigit():
            out.append(int(bare))
            open_ten = False
            continue
        value = _ORDINALS.get(word, 0 if word in _SPOKEN_ZERO else _SMALL.get(word, _SCALES.get(word)))
        if value is None:
            open_ten = open_ten and word == "and"
            continue
        if open_ten and 0 < value < 10:
            out[-1] += value
            open_ten = False
            continue
        out.append(value)
        open_ten = word in _TENS
    return out


def _joined_year(numbers: list[int]) -> int | None:
    """[1968], [68], [19, 68], [2, 1000, 4] or [19, 0, 4] as a year."""
    if not numbers:
        return None
    if numbers[:2] == [2, 1000]:
        return 2000 + sum(numbers[2:4])
    if len(numbers) > 1 and numbers[1] == 100:
        return numbers[0] * 100 + (numbers[2] if len(numbers) > 2 else 0)
    if numbers[0] in {19, 20} and len(numbers) > 1 and numbers[1] < 100:
        last = numbers[2] if numbers[1] == 0 and len(numbers) > 2 else 0
        return numbers[0] * 100 + numbers[1] + last
    return _year(numbers[0])


def _year(year: int) -> int:
    if year >= 100:
        return year
    return year + (2000 if year < CENTURY_TURN else 1900)


def _day(day: int, month: int, year: int) -> str | None:
    if not (1 <= month <= 12 and 1 <= day <= _LAST_DAY[month - 1] and 1900 <= year <= 2100):
        return None
    return f"{day} {MONTHS[month - 1]} {year}"


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]+|\d+(?:st|nd|rd|th)?", text.lower())

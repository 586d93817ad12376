"""How people say a value: digits in groups, dates by name or number, amounts in words. English.

Apart from `sops.values` on purpose: that module reads values back, and one table serving both would test itself.
"""

import random
from typing import Literal

Form = Literal["digits", "date", "number", "asis"]

_ONES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = (
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_DAYS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth",
)  # fmt: skip
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def say(value: str, form: Form, rng: random.Random) -> str:
    """The value in one of the ways people say it; a value that does not fit its form is said as it is."""
    match form:
        case "digits" if value.isdigit():
            return say_digits(value, rng)
        case "date":
            return say_date(value, rng)
        case "number" if value.isdigit():
            return say_number(int(value), rng)
        case _:
            return value


def say_digits(value: str, rng: random.Random) -> str:
    """As a recogniser writes what was read out: mostly joined, sometimes in groups, sometimes word by word."""
    way = rng.random()
    if way < 0.6:
        return value
    if way < 0.85:
        size = 4 if len(value) % 4 == 0 else 3
        return " ".join(value[i : i + size] for i in range(0, len(value), size))
    return " ".join(_ONES[int(digit)] if digit != "0" or rng.random() < 0.5 else "oh" for digit in value)


def say_date(value: str, rng: random.Random) -> str:
    """A day written "28 May 1968" (or without a year) in another order, in numbers, or in words."""
    parts = value.split()
    if len(parts) not in {2, 3} or not parts[0].isdigit() or parts[1] not in _MONTHS:
        return value
    day, month = int(parts[0]), parts[1]
    year = parts[2] if len(parts) == 3 else ""
    way = rng.random()
    if way < 0.45 or (not year and way < 0.7):
        return value
    if way < 0.6:
        return f"the {_nth(day)} of {month}" + (f" {year}" if year else "")
    if way < 0.75 or not year:
        return f"{month} the {_nth(day)}" + (f", {year}" if year else "")
    if way < 0.88:
        return f"{day:02d}/{_MONTHS.index(month) + 1:02d}/{year}"
    return f"the {_nth_word(day)} of {month} {_year_words(int(year))}"


def say_number(value: int, rng: random.Random) -> str:
    """12500 as "12500", "12,500", "twelve thousand five hundred" or "twelve and a half thousand"."""
    way = rng.random()
    if way < 0.35:
        return f"{value:,}"
    if way < 0.6 or value < 1000 or value % 500:
        return str(value)
    thousands, rest = divmod(value, 1000)
    if rest == 0:
        return f"{_small_words(thousands)} thousand"
    if way < 0.8:
        return f"{_small_words(thousands)} and a half thousand"
    return f"{_small_words(thousands)} thousand five hundred"


def _nth(day: int) -> str:
    ending = "th" if 10 <= day % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def _nth_word(day: int) -> str:
    if day <= 20:
        return _DAYS[day - 1]
    if day == 30:
        return "thirtieth"
    return f"{_TENS[day // 10]} {_DAYS[day % 10 - 1]}"


def _small_words(value: int) -> str:
    if value < 20:
        return (_ONES + _TEENS)[value]
    tens, ones = divmod(value, 10)
    return _TENS[tens] + (f" {_ONES[ones]}" if ones else "")


def _year_words(year: int) -> str:
    century, rest = divmod(year, 100)
    if century == 20 and rest < 10:
        return "two thousand" + (f" and {_ONES[rest]}" if rest else "")
    ending = "hundred" if rest == 0 else f"oh {_ONES[rest]}" if rest < 10 else _small_words(rest)
    return f"{_small_words(century)} {ending}"

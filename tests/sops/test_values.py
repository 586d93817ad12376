import pytest

from sops.values import normalise, spoken_date, spoken_digits, spoken_number


@pytest.mark.parametrize(
    ("said", "digits"),
    [
        ("882431", "882431"),
        ("88 24 31", "882431"),
        ("double eight two four three one", "882431"),
        ("eight eight two, four three one", "882431"),
        ("triple oh 4 one nine", "000419"),
        ("double 8 2", "882"),
    ],
)
def test_digits_are_read_as_they_are_spoken(said: str, digits: str) -> None:
    assert spoken_digits(said) == digits


@pytest.mark.parametrize(
    ("said", "amount"),
    [
        ("12,000", 12000),
        ("12k", 12000),
        ("twelve thousand", 12000),
        ("nine and a half thousand", 9500),
        ("seven thousand five hundred", 7500),
        ("twenty two thousand", 22000),
        ("a thousand", 1000),
        ("8000 or so", 8000),
        ("not many", None),
    ],
)
def test_amounts_are_read_as_they_are_spoken(said: str, amount: int | None) -> None:
    assert spoken_number(said) == amount


@pytest.mark.parametrize(
    "said",
    [
        "15/06/1984",
        "15.6.84",
        "6/15/1984",
        "1984-06-15",
        "june fifteenth 1984",
        "June 15, 1984",
        "the fifteenth of june nineteen eighty four",
        "15th of Jun 84",
        "fifteenth june eighty four",
    ],
)
def test_every_way_to_say_a_day_is_the_same_day(said: str) -> None:
    assert spoken_date(said) == "15 June 1984"


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("third of may two thousand and one", "3 May 2001"),
        ("the twenty first of november nineteen oh four", "21 November 1904"),
        ("may the twenty third, twenty twelve", "23 May 2012"),
        ("thirtieth of august 2000", "30 August 2000"),
        ("31st of december two thousand", "31 December 2000"),
        ("thirty first of march seventy", "31 March 1970"),
        ("31/02/1980", None),
        ("maybe on monday", None),
    ],
)
def test_years_are_joined_and_impossible_days_refused(said: str, day: str | None) -> None:
    assert spoken_date(said) == day


def test_a_value_that_cannot_be_read_is_kept_as_said() -> None:
    assert normalise("  no  idea ", "date") == "no idea"
    assert normalise("not many", "number") == "not many"
    assert normalise("ada lovelace", "title") == "Ada Lovelace"

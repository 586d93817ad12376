import re

import pytest

from sops.models import Fact
from sops.spoken import PatternInvalid, expand
from sops.values import normalise


def found(pattern: str, said: str) -> str | None:
    match = re.search(expand(pattern), said)
    return match[1] if match else None


@pytest.mark.parametrize(
    "said",
    [
        "it's 882431",
        "ins-882431",
        "88 24 31",
        "882 431 that's it",
        "8 8 2 4 3 1",
        "double eight two four three one",
        "um eight eight, two four, three one",
        "eighty eight twenty four thirty one",
        "it is 88 twenty four 31",
    ],
)
def test_six_digits_are_found_however_they_are_read_out(said: str) -> None:
    assert normalise(found("(<digits 6>)", said) or "", "digits") == "882431"


@pytest.mark.parametrize("said", ["june 15 1984", "15/06/1984", "one two three", "it was 412 pounds", "8824311"])
def test_dates_prices_and_other_lengths_are_no_six_digits(said: str) -> None:
    assert found("(<digits 6>)", said) is None


def test_fewer_spoken_digits_are_another_number() -> None:
    assert found("(<digits 6>)", "nine zero one six") is None
    assert found("(<digits 4>)", "six oh four") is None


def test_pairs_of_doubles_count_as_digits() -> None:
    assert normalise(found("(<digits 6>)", "double eight double two double nine") or "", "digits") == "882299"


@pytest.mark.parametrize(
    "said",
    [
        "born june fifteenth nineteen eighty four in Leeds",
        "15/06/1984 and the number",
        "on the 15th of june 84",
        "fifteenth of the sixth nineteen eighty four",
    ],
)
def test_a_day_is_found_within_other_words(said: str) -> None:
    assert normalise(found("(<date>)", said) or "", "date") == "15 June 1984"


def test_words_that_follow_are_no_part_of_a_name() -> None:
    assert found(r"my name is (<name>)", "my name is Ada Lovelace and I want") == "Ada Lovelace"
    assert found(r"this is (<name>)", "this is about my car") is None


def test_times_of_day_are_found() -> None:
    pattern = "(<time>)"
    assert found(pattern, "the 9:30 one please") == "9:30"
    assert found(pattern, "half past two would do") == "half past two"
    assert found(pattern, "at ten thirty then") == "ten thirty"
    assert found(pattern, "3 pm") == "3 pm"


def test_a_fact_writes_its_pieces_out_and_refuses_what_does_not_compile() -> None:
    assert "<" not in Fact(description="d", patterns=("code (<digits>)",)).patterns[0].replace("(?<", "")
    with pytest.raises(PatternInvalid, match="does not compile"):
        expand("(<date>")

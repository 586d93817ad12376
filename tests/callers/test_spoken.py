import random

import pytest

from evals.callers.spoken import Form, say
from sops.values import Keep, normalise


@pytest.mark.parametrize(
    ("value", "form", "keep"),
    [
        ("343705", "digits", "digits"),
        ("1209", "digits", "digits"),
        ("8 January 1942", "date", "date"),
        ("31 May 1968", "date", "date"),
        ("23 October 2006", "date", "date"),
        ("20 August 1900", "date", "date"),
        ("12000", "number", "number"),
        ("7500", "number", "number"),
        ("9500", "number", "number"),
    ],
)
def test_whatever_way_a_value_is_said_it_can_be_read_back(value: str, form: Form, keep: Keep) -> None:
    rng = random.Random(value)
    ways = {say(value, form, rng) for _ in range(200)}
    assert len(ways) >= 2
    assert {normalise(way, keep) for way in ways} == {value}


def test_a_value_that_does_not_fit_its_form_is_said_as_it_is() -> None:
    rng = random.Random(0)
    assert say("soon", "date", rng) == "soon"
    assert say("AB-12", "digits", rng) == "AB-12"
    assert say("a few", "number", rng) == "a few"

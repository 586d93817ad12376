import pytest

from cuecard.belief.facts import FactExtractor
from sops import load_procedure


@pytest.mark.parametrize(
    ("words", "fact", "value"),
    [
        ("i was born on the fourteenth of january nineteen er fifty five", "date_of_birth", "14 January 1955"),
        ("It's 16, um, 39", "card_last4", "1639"),
        ("nine uh six erm two eight", "card_last4", "9628"),
    ],
)
def test_sounds_of_thinking_do_not_break_a_value(words: str, fact: str, value: str) -> None:
    extractor = FactExtractor(load_procedure("card_activation"))
    found = {update.name: update.value for update in extractor.extract(words, last_action="verify_identity")}
    assert found.get(fact) == value


def test_a_value_said_again_in_full_is_not_mended_by_another_number() -> None:
    extractor = FactExtractor(load_procedure("card_activation"))
    known = {"card_last4": "3967", "date_of_birth": "3 April 1962"}
    words = "as i said it's the one ending 3967 and born april the 2nd 1962"
    updates = extractor.extract(words, last_action="verify_identity", known=known)
    assert [(update.name, update.value) for update in updates] == [("date_of_birth", "2 April 1962")]

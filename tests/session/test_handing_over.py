"""A person takes over on a clear wish or one said twice; in doubt it is asked again, except where it is urgent."""

from cuecard.policy import Desk
from cuecard.policy.consent import state_to_act_on
from sops.loader import load_procedure

MEDICAL = load_procedure("medical_booking")
WORDS = "is somebody there who could see my daughter"


def test_a_clear_wish_for_a_person_is_followed() -> None:
    assert state_to_act_on(MEDICAL, Desk(), {"wants_person": 0.8, "asks_question": 0.2}, WORDS) == "wants_person"


def test_a_question_that_sounds_like_the_wish_is_answered() -> None:
    states = {"wants_person": 0.5, "gives_details": 0.2, "asks_question": 0.1}
    assert state_to_act_on(MEDICAL, Desk(), states, WORDS) == "asks_question"


def test_with_no_question_near_it_the_next_likeliest_counts() -> None:
    states = {"wants_person": 0.5, "gives_details": 0.3, "asks_question": 0.01}
    assert state_to_act_on(MEDICAL, Desk(), states, WORDS) == "gives_details"


def test_with_nothing_else_likely_the_agent_asks_again() -> None:
    assert state_to_act_on(MEDICAL, Desk(), {"wants_person": 0.6, "declines": 0.08, "annoyed": 0.08}, WORDS) == ""


def test_a_doubtful_wish_does_not_turn_into_a_yes_that_books() -> None:
    desk = Desk(last_action="confirm_booking")
    assert state_to_act_on(MEDICAL, desk, {"wants_person": 0.5, "agrees": 0.4}, WORDS) == ""


def test_the_wish_said_twice_is_followed_however_doubtful() -> None:
    desk = Desk(last_state="wants_person")
    assert state_to_act_on(MEDICAL, desk, {"wants_person": 0.4, "asks_question": 0.3}, WORDS) == "wants_person"


def test_urgent_symptoms_are_handed_over_even_in_doubt() -> None:
    states = {"urgent_symptoms": 0.4, "asks_question": 0.3}
    assert state_to_act_on(MEDICAL, Desk(), states, WORDS) == "urgent_symptoms"

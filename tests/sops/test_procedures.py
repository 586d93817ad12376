"""What the shipped procedures promise."""

import re
from collections.abc import Iterator

import pytest

from sops.loader import load_procedure, names
from sops.models import NEXT, REPEAT, Procedure
from sops.values import normalise


@pytest.fixture(params=names())
def procedure(request: pytest.FixtureRequest) -> Procedure:
    return load_procedure(str(request.param))


def test_a_shipped_procedure_is_complete(procedure: Procedure) -> None:
    assert 7 <= len(procedure.actions) <= 13
    assert len(procedure.cohorts) == 7
    assert all(3 <= len(cohort.moods) <= 4 for cohort in procedure.cohorts.values())
    assert 12 <= len(procedure.states) <= 15
    assert all(len(state.examples) >= 25 for state in procedure.states.values())
    assert len({state.affect for state in procedure.states.values()}) >= 5


def test_dependencies_are_slow_and_say_what_they_do(procedure: Procedure) -> None:
    dependencies = procedure.dependencies
    assert len(dependencies) >= 6
    assert all(0.4 <= dependency.latency_s <= 7.0 for dependency in dependencies.values())
    assert sum(dependency.query_template is not None for dependency in dependencies.values()) >= 2
    assert sum(dependency.effect == "write" for dependency in dependencies.values()) == 1


def test_every_action_says_what_callers_do_next(procedure: Procedure) -> None:
    assert all(action.expects for action in procedure.actions.values())


def test_kinds_of_steps_that_every_call_may_need_are_there(procedure: Procedure) -> None:
    kinds = {action.kind for action in procedure.actions.values()}
    assert {"greet", "ask", "answer", "confirm", "write", "close", "hand_over", "small_talk"} <= kinds


def test_every_state_leads_somewhere_from_every_action(procedure: Procedure) -> None:
    for state in procedure.states:
        assert state in procedure.always or state in procedure.otherwise


def test_repeating_steps_have_other_words_for_it(procedure: Procedure) -> None:
    for name, action in procedure.actions.items():
        repeats = REPEAT in action.on.values() or name in action.on.values() or action.kind in {"ask", "answer"}
        if repeats:
            assert action.again, f"{name} may come twice in a row"


def test_a_caller_who_declines_twice_gets_out(procedure: Procedure) -> None:
    ways_out = {"close", "hand_over"}
    first = procedure.otherwise["declines"]
    assert first not in {NEXT, REPEAT}
    second = procedure.actions[first].on["declines"]
    assert procedure.actions[second].kind in ways_out


def test_moods_and_cohorts_show_how_they_speak(procedure: Procedure) -> None:
    for cohort in procedure.cohorts.values():
        assert len(cohort.examples) >= 3
        assert all(len(mood.examples) >= 3 for mood in cohort.moods.values())


def test_replies_hold_no_value_of_the_back_office(procedure: Procedure) -> None:
    for name, action in procedure.actions.items():
        for reply in (*action.replies, *action.again):
            assert len(reply) <= 260, f"{name}: too long to be heard"
            assert not re.search(r"\d{4,}", reply), f"{name}: a number that should be a slot"


def said_facts() -> Iterator[tuple[str, str, str, str]]:
    insurance, card, medical = "insurance_renewal", "card_activation", "medical_booking"
    yield insurance, "policy_number", "my policy is I N S double eight two four three one", "882431"
    yield insurance, "policy_number", "it's ins-882 431", "882431"
    yield insurance, "date_of_birth", "june fifteenth nineteen eighty four", "15 June 1984"
    yield insurance, "annual_mileage", "about twelve thousand miles", "12000"
    yield insurance, "annual_mileage", "my mileage is more like 9k", "9000"
    yield insurance, "caller_name", "hi this is Priya Raman calling", "Priya Raman"
    yield card, "card_last4", "the card ends in nine oh one six", "9016"
    yield card, "card_last4", "last four are forty four seventy one", "4471"
    yield card, "activation_code", "six oh four, double one eight", "604118"
    yield card, "pin_choice", "send it by post", "post"
    yield medical, "patient_number", "double seven zero three five", "77035"
    yield medical, "preferred_time", "mornings are best for me", "morning"
    yield medical, "date_of_birth", "1st of May 2000", "1 May 2000"


@pytest.mark.parametrize(("name", "fact", "said", "value"), list(said_facts()))
def test_facts_are_found_as_they_are_spoken(name: str, fact: str, said: str, value: str) -> None:
    declared = load_procedure(name).facts[fact]
    matches = (re.search(pattern, said) for pattern in declared.patterns)
    found = next(match for match in matches if match)
    assert normalise(found[1], declared.keep) == value


@pytest.mark.parametrize("said", ["good morning I'd like an appointment", "good afternoon"])
def test_a_greeting_is_no_preferred_time(said: str) -> None:
    declared = load_procedure("medical_booking").facts["preferred_time"]
    assert not any(re.search(pattern, said) for pattern in declared.patterns)

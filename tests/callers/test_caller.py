import dataclasses
import random
from collections import Counter

import pytest

from evals.callers import (
    Agenda,
    AgendaCaller,
    CallerTurn,
    Cue,
    Question,
    draw_agenda,
    load_questions,
    load_wording,
)
from evals.callers.noise import Noise
from evals.callers.traits import Manner
from sops import load_procedure
from sops.loader import find
from sops.tables import load_tables

SOP = "insurance_renewal"
QUIET = Noise(0.0, 0.0, 0.0, 0.0, 0.0)
PLAIN = Manner(
    small_talk=0.0, worries=0.0, hesitates=0.0, unclear=0.0, annoyed=0.0, details_at_once=0.0, in_pieces=0.0,
    late=0.0, follow_up=0.0, barges_in=0.0, silent=0.0, person=0.0,
)  # fmt: skip
VERIFY = Cue("verify_identity", "ask", ("policy_number", "date_of_birth"))
MILES = Cue("review_policy", "ask", ("annual_mileage",))
QUOTE = Cue("present_quote", "inform")
READ_BACK = Cue("confirm_renewal", "confirm")
RENEWED = Cue("renew_policy", "write")
CLOSED = Cue("close_call", "close", ended=True)
FACTS = {"policy_number": "343705", "date_of_birth": "8 January 1942", "annual_mileage": "8000"}


def _draw(seed: int) -> tuple[Agenda, random.Random]:
    rng = random.Random(f"{SOP}/{seed}")
    procedure, wording = load_procedure(SOP), load_wording(SOP)
    return draw_agenda(procedure, load_tables(find(SOP)), wording, load_questions(SOP), rng), rng


def _caller(seed: int = 0, *, feels_waits: bool = False, **changes: object) -> AgendaCaller:
    plain: dict[str, object] = {"manner": PLAIN, "noise": QUIET, "facts": dict(FACTS)}
    agenda = dataclasses.replace(Agenda("loyal_renewer", "content", "renew", "done"), **(plain | changes))  # type: ignore[arg-type]
    return AgendaCaller(agenda, load_wording(SOP), random.Random(seed), feels_waits=feels_waits)


def _say(caller: AgendaCaller, *cues: Cue) -> list[CallerTurn]:
    turns = [caller.opens()]
    for cue in cues:
        turn = caller.replies(cue)
        assert turn is not None
        turns.append(turn)
    return turns


def test_the_same_seed_gives_the_same_person_with_the_same_words() -> None:
    calls = []
    for _ in range(2):
        agenda, rng = _draw(11)
        calls.append((agenda, _say(AgendaCaller(agenda, load_wording(SOP), rng), VERIFY, MILES, QUOTE)))
    assert calls[0] == calls[1]
    assert _draw(12)[0] != calls[0][0]


def test_callers_come_as_the_procedure_says_they_do() -> None:
    procedure = load_procedure(SOP)
    cohorts = Counter(_draw(seed)[0].cohort for seed in range(1500))
    for name, cohort in procedure.cohorts.items():
        assert abs(cohorts[name] / 1500 - cohort.prior) < 0.04


def test_a_caller_is_somebody_the_back_office_knows() -> None:
    tables = load_tables(find(SOP))
    for seed in range(40):
        agenda, _ = _draw(seed)
        record = tables["identities"][agenda.facts["policy_number"]]
        assert agenda.facts["date_of_birth"] == record["date_of_birth"]
        assert all(agenda.facts[name] != value for name, value in agenda.wrong.items())


def test_a_renewal_runs_from_hello_to_goodbye() -> None:
    turns = _say(_caller(), VERIFY, MILES, QUOTE, READ_BACK, RENEWED)
    assert [turn.act for turn in turns] == ["opens", "gives", "gives", "agrees", "agrees", "goodbye"]
    assert "343705" in turns[1].words.replace(" ", "") or "three" in turns[1].words
    assert sum(turn.speech_s < turn.turn_s for turn in turns) == len(turns)


def test_nobody_speaks_after_the_agent_has_closed() -> None:
    caller = _caller()
    _say(caller, VERIFY)
    assert caller.replies(CLOSED) is None


def test_a_wrong_number_is_put_right_when_it_is_asked_for_again() -> None:
    caller = _caller(wrong={"policy_number": "343706"}, facts=dict(FACTS))
    _, first, second = _say(caller, VERIFY, VERIFY)
    assert not caller.mind.wrong
    assert first.meant != second.meant


def test_a_slip_that_nobody_notices_is_corrected_at_the_read_back() -> None:
    caller = _caller(wrong={"annual_mileage": "9000"})
    turns = _say(caller, VERIFY, MILES, READ_BACK, READ_BACK)
    assert [turn.act for turn in turns[2:]] == ["gives", "corrects", "agrees"]


def test_questions_carry_the_documents_that_answer_them() -> None:
    caller = _caller(questions=(Question("is glass covered?", ("windscreen",)),))
    turn = _say(caller, VERIFY, MILES, QUOTE, READ_BACK, RENEWED)[-1]
    asked = [one for one in (turn, caller.replies(RENEWED)) if one is not None and one.act == "asks_question"]
    assert [one.gold for one in asked] in ([("windscreen",)], [])
    assert not caller.mind.questions


def test_the_words_do_not_depend_on_how_long_the_caller_waited() -> None:
    def call(waited_s: float) -> list[CallerTurn]:
        agenda, rng = _draw(21)
        caller = AgendaCaller(agenda, load_wording(SOP), rng)
        cues = [dataclasses.replace(cue, waited_s=waited_s) for cue in (VERIFY, MILES, QUOTE, READ_BACK)]
        return _say(caller, *cues)

    assert call(0.0) == call(30.0)


def test_waiting_costs_patience_where_it_is_felt() -> None:
    caller = _caller(feels_waits=True)
    caller.opens()
    turn = caller.replies(dataclasses.replace(VERIFY, waited_s=60.0))
    assert turn is not None
    assert turn.act in {"wants_person", "goodbye", "hangs_up"}


def test_being_asked_in_vain_again_and_again_ends_the_call() -> None:
    caller = _caller()
    caller.opens()
    acts = []
    for _ in range(12):
        turn = caller.replies(VERIFY)
        if turn is None:
            break
        acts.append(turn.act)
    assert acts[0] == "gives"
    assert {"wants_person", "goodbye", "hangs_up"} & set(acts)
    assert not caller.reached("abandoned", "ask")


@pytest.mark.parametrize("goal", ["leave", "ask_only"])
def test_who_wants_to_leave_is_content_with_a_proper_close_only(goal: str) -> None:
    caller = _caller(goal=goal, ends="closed")
    turns = _say(caller, VERIFY, VERIFY)
    assert turns[-1].act == "goodbye"
    assert caller.reached("declined", "close")
    assert not caller.reached("handed_over", "hand_over")
    assert not caller.reached("abandoned", "ask")


def test_who_asks_for_a_person_gets_what_they_want_by_a_handover() -> None:
    caller = _caller(goal="person", ends="person")
    turns = _say(caller, VERIFY)
    assert turns[-1].act == "wants_person"
    assert caller.reached("handed_over", "hand_over")
    assert not caller.reached("success", "close")


def test_an_objection_is_followed_by_a_yes_or_by_leaving() -> None:
    gives_in = _say(_caller(objections=1), VERIFY, MILES, QUOTE, QUOTE)
    assert [turn.act for turn in gives_in[3:]] == ["objects", "agrees"]
    walks = _say(_caller(objections=1, leaves_over_it=True), VERIFY, MILES, QUOTE, QUOTE)
    assert [turn.act for turn in walks[3:]] == ["objects", "goodbye"]

import asyncio
import itertools
import random
import time

import pytest

from cuecard.belief.types import Belief
from cuecard.policy.rules import Desk
from cuecard.predictors.counts import CountKey, MemoryCounts, increments, situation
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.procedure_prior import ProcedurePrior
from cuecard.predictors.shrinkage import Drawn, shrink
from cuecard.predictors.types import SessionView, TurnView
from sops.loader import load_procedure

SOP = "insurance_renewal"


def turns(*actions: str, state: str = "agrees") -> tuple[TurnView, ...]:
    return tuple(TurnView("", state, action) for action in actions)


def learned(*sessions: tuple[TurnView, ...], half_life_sessions: float | None = None) -> MemoryCounts:
    counts = MemoryCounts(half_life_sessions)
    for session in sessions:
        for end in range(1, len(session) + 1):
            for increment in increments("s", session[:end]):
                counts.add(increment)
        counts.end_session()
    return counts


def predictor(counts: MemoryCounts, rng: random.Random | None = None) -> EmpiricalPredictor:
    return EmpiricalPredictor(counts, lambda _: None, thompson=rng)


async def test_with_no_precedents_the_graph_alone_says_the_next_step() -> None:
    prior = ProcedurePrior(load_procedure(SOP))
    forecast = await EmpiricalPredictor(MemoryCounts(), lambda _: prior).predict(
        SessionView(SOP, turns("greet"), done=frozenset({"greet"}))
    )
    assert max(forecast.actions[0], key=lambda name: forecast.actions[0][name]) == "verify_identity"
    for distribution in (*forecast.actions, *forecast.states, *forecast.sources):
        assert sum(distribution.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("sop", ["insurance_renewal", "card_activation", "medical_booking"])
def test_states_that_count_as_alike_lead_the_rules_to_the_same_step(sop: str) -> None:
    procedure = load_procedure(sop)
    prior = ProcedurePrior(procedure)
    for last, facts in itertools.product(procedure.actions, ({}, dict.fromkeys(procedure.facts, "x"))):
        for verified in (False, True):
            desk = Desk(facts=dict(facts), verified=verified, last_action=last, done=[last])
            for states in prior.alike(last):
                led = {
                    (s.last_action, s.verified, frozenset(s.facts)) for s in (prior.step(desk, one) for one in states)
                }
                assert len(led) == 1, (last, states)


def test_a_prediction_takes_well_under_a_millisecond_once_a_desk_has_been_seen() -> None:
    prior = ProcedurePrior(load_procedure(SOP))
    counts = MemoryCounts(None)
    for increment in increments(SOP, turns("greet", "verify_identity")):
        counts.add(increment)
    empirical = EmpiricalPredictor(counts, lambda _: prior)
    view = SessionView(SOP, turns("greet"), done=frozenset({"greet"}))

    async def cpu_s() -> float:
        began = time.thread_time()
        await empirical.predict(view)
        return time.thread_time() - began

    async def all_of_them() -> list[float]:
        return [await cpu_s() for _ in range(50)]

    assert sorted(asyncio.run(all_of_them()))[25] < 0.001


async def test_what_followed_when_a_step_was_due_overrules_the_rules_once_there_is_enough_of_it() -> None:
    prior = ProcedurePrior(load_procedure(SOP))
    view = SessionView(SOP, turns("greet"), done=frozenset({"greet"}))
    due = prior.expect(view, 3).due
    assert due == "verify_identity"
    counts = MemoryCounts(None)
    for _ in range(60):
        for increment in increments(SOP, (view.turns[0]._replace(due=due), *turns("hand_over"))):
            counts.add(increment)
    forecast = await EmpiricalPredictor(counts, lambda _: prior).predict(view)
    assert forecast.actions[0]["hand_over"] > 0.85


async def test_counts_that_do_not_know_the_desk_never_put_another_step_first() -> None:
    prior = ProcedurePrior(load_procedure(SOP))
    counts = MemoryCounts(None)
    for _ in range(500):
        for increment in increments(SOP, turns("greet", "hand_over")):
            counts.add(increment)
    view = SessionView(SOP, turns("greet"), done=frozenset({"greet"}))
    forecast = await EmpiricalPredictor(counts, lambda _: prior).predict(view)
    assert max(forecast.actions[0], key=lambda name: forecast.actions[0][name]) == "verify_identity"
    assert forecast.actions[0]["hand_over"] > 0.2


def test_a_guessed_cohort_narrows_nothing_and_a_likely_one_does() -> None:
    guess = Belief(cohort={"loyal": 0.4, "new": 0.3}, mood={"loyal/calm": 0.3})
    known = Belief(cohort={"loyal": 0.8, "new": 0.2}, mood={"loyal/calm": 0.3, "loyal/cross": 0.5})
    at = turns("ask")
    assert (situation(SessionView("s", at, guess)).cohort, situation(SessionView("s", at, guess)).mood) == ("", "")
    assert (situation(SessionView("s", at, known)).cohort, situation(SessionView("s", at, known)).mood) == (
        "loyal",
        "cross",
    )


def test_what_a_kind_of_caller_does_is_heard_but_does_not_drown_the_rest() -> None:
    rows = {"sop": {"x": 50.0, "y": 50.0}, "last": {"x": 50.0, "y": 50.0}, "cohort": {"y": 20.0}}
    assert 0.6 < shrink(rows)["y"] < 0.7


async def test_an_unknown_procedure_or_action_says_less_and_never_raises() -> None:
    empty = predictor(MemoryCounts())
    assert (await empty.predict(SessionView("nobody"))).actions == ({}, {}, {})
    counts = learned(turns("a", "b"), turns("a", "b"))
    forecast = await predictor(counts).predict(SessionView("s", turns("never_seen")))
    assert forecast.actions[0] == pytest.approx({"b": 1.0})


async def test_every_offset_has_its_own_direct_counts() -> None:
    forecast = await predictor(learned(*[turns("a", "b", "c", "d")] * 3)).predict(SessionView("s", turns("a")))
    assert [max(p, key=lambda name: p[name]) for p in forecast.actions] == ["b", "c", "d"]


async def test_the_callers_state_tells_two_callers_apart() -> None:
    agrees = turns("ask", "book", state="agrees")
    declines = turns("ask", "close", state="declines")
    counts = learned(*[agrees] * 10, *[declines] * 10)
    forecast = await predictor(counts).predict(SessionView("s", turns("ask", state="declines")))
    assert forecast.actions[0]["close"] > 0.65


async def test_an_old_habit_fades_with_the_half_life() -> None:
    counts = learned(*[turns("a", "old")] * 20, *[turns("a", "new")] * 20, half_life_sessions=5)
    forecast = await predictor(counts).predict(SessionView("s", turns("a")))
    assert forecast.actions[0]["new"] > 0.85
    unhurried = await predictor(learned(*[turns("a", "old")] * 20, *[turns("a", "new")] * 20)).predict(
        SessionView("s", turns("a"))
    )
    assert unhurried.actions[0]["new"] == pytest.approx(0.5)


async def test_a_draw_from_the_posterior_repeats_with_its_seed_and_wanders_without_evidence() -> None:
    counts = learned(turns("a", "b"), turns("a", "c"))
    view = SessionView("s", turns("a"))
    first = await predictor(counts, random.Random(1)).predict(view)
    again = await predictor(counts, random.Random(1)).predict(view)
    other = await predictor(counts, random.Random(2)).predict(view)
    assert first.actions == again.actions
    assert first.actions != other.actions
    assert sum(first.actions[0].values()) == pytest.approx(1.0)


async def test_decay_in_the_row_equals_decay_of_every_event() -> None:
    counts = learned(turns("a", "b"), turns("a", "c"), turns("a", "b"), half_life_sessions=2)
    row = counts.row(CountKey("s", "action", 1, ("last", "a")))
    assert row["b"] == pytest.approx(0.5 ** (3 / 2) + 0.5 ** (1 / 2))
    assert row["c"] == pytest.approx(0.5 ** (2 / 2))


def test_a_thin_context_leans_on_the_wider_one() -> None:
    wide = {"x": 90.0, "y": 10.0}
    thin = shrink({"sop": wide, "last": {"y": 1.0}}, strength=5.0)
    assert 0.2 < thin["y"] < 0.3
    thick = shrink({"sop": wide, "last": {"y": 100.0}}, strength=5.0)
    assert thick["y"] > 0.95


def test_a_label_that_only_the_graph_knows_keeps_its_probability() -> None:
    p = shrink({"sop": {"x": 10.0}}, Drawn({"x": 0.5, "unseen": 0.5}))
    assert 0.1 < p["unseen"] < 0.2

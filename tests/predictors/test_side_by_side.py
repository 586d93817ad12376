"""Predictors side by side: what the rows promise."""

import pytest

from cuecard.models.chat import Chat
from cuecard.models.tokens import estimate
from cuecard.predictors.counts import CountKey
from cuecard.predictors.llm import LLMPredictor
from cuecard.predictors.procedure_prior import ProcedurePrior
from cuecard.predictors.types import SessionView, TurnView
from evals.predictors.record import Call, counted
from evals.predictors.score import Tally, gap, together
from evals.predictors.stand_in import StandIn
from sops import load_procedure

PROCEDURE = load_procedure("card_activation")


def test_a_gap_is_paired_by_call() -> None:
    ahead = gap([[1.0, 1.0], [1.0]], [[1.0, 0.0], [1.0]])
    assert ahead.points == pytest.approx(33.3)
    assert ahead.ci95[0] == 0.0
    assert gap([[1.0, 0.0]], [[1.0, 0.0]]).points == 0.0


def test_several_scorings_of_the_same_calls_are_pooled_by_call() -> None:
    one, other = Tally(), Tally()
    one.add("top1", 0, hit=True)
    one.add("top1", 1, hit=False)
    other.add("top1", 0, hit=False)
    assert together([one, other]).hits == {"top1": [[1.0, 0.0], [0.0]]}


async def test_without_a_model_the_llm_row_still_reads_the_prompt_and_costs_its_tokens() -> None:
    predictor = LLMPredictor(Chat(StandIn(), 5.0, estimate), {PROCEDURE.name: PROCEDURE}.get)
    first = next(iter(PROCEDURE.actions))
    view = SessionView(PROCEDURE.name, (TurnView("hi", "", first),), done=frozenset({first}))
    forecast = await predictor.predict(view)
    assert forecast.actions[0]
    assert first not in forecast.actions[0]
    assert forecast.utterances
    assert forecast.tokens > 300


async def test_played_calls_are_counted_under_what_was_due() -> None:
    prior = ProcedurePrior(PROCEDURE)
    turns = tuple(TurnView("", "", action) for action in list(PROCEDURE.actions)[:2])
    views = {n: SessionView(PROCEDURE.name, turns[:n]) for n in (1, 2)}
    counts = counted(PROCEDURE.name, [Call(0, turns, views)], prior)
    due = prior.expect(views[1], 3).due
    assert due
    row = counts.row(CountKey(PROCEDURE.name, "action", 1, ("due", turns[0].action, due)))
    assert row.keys() == {turns[1].action}

from typing import Any

import pytest

from cuecard.predictors.counts import CountKey, MemoryCounts, call_increments, increments
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.features import marks
from cuecard.predictors.mixture import MixturePredictor, sharpened
from cuecard.predictors.types import Forecast, SessionView, TurnView, Utterance

VIEW = SessionView("s", (TurnView("hi", "opens", "greet"),))


class Says:
    """A predictor with one opinion; counts how often it was asked."""

    def __init__(self, by: str, **action: float) -> None:
        self._forecast = Forecast(actions=(action,) * 3, utterances=(Utterance("well", 0.5),), by=by, tokens=7)
        self.n_asked = 0
        self.card = Card()

    async def predict(self, view: SessionView, horizon: int = 3) -> Forecast:
        self.n_asked += 1
        return self._forecast


class Card:
    def __init__(self) -> None:
        self.shares = {"action": ((0.2, 0.4, 0.6, 0.8),) * 3}
        self.powers: dict[str, tuple[float, ...]] = {}


def counted(n: int) -> EmpiricalPredictor:
    counts = MemoryCounts(None)
    turns = (TurnView("hi", "opens", "greet"), TurnView("yes", "agrees", "counted"))
    for _ in range(n):
        for increment in call_increments("s", turns):
            counts.add(increment)
    return EmpiricalPredictor(counts, lambda _: None)


async def test_a_cold_predictor_leads_without_evidence_and_fades_with_it() -> None:
    cold = Says("llm", imagined=1.0)
    alone = await MixturePredictor(counted(0), cold=cold).predict(VIEW)
    some = await MixturePredictor(counted(10), cold=cold).predict(VIEW)
    assert alone.actions[0] == pytest.approx({"imagined": 1.0})
    assert some.actions[0]["counted"] == pytest.approx(0.85)
    assert alone.by == "empirical+llm"
    assert alone.tokens == 7
    assert alone.utterances


async def test_a_cold_predictor_is_not_even_asked_once_counts_suffice() -> None:
    cold = Says("llm", imagined=1.0)
    forecast = await MixturePredictor(counted(200), cold=cold).predict(VIEW)
    assert cold.n_asked == 0
    assert forecast.tokens == 0
    assert forecast.by == "empirical"


async def test_the_models_share_is_that_of_the_band_the_evidence_falls_in() -> None:
    model: Any = Says("learned", foreseen=1.0)
    for n, share in ((1, 0.2), (10, 0.4), (50, 0.6), (500, 0.8)):
        forecast = await MixturePredictor(counted(n), model).predict(VIEW)
        assert forecast.actions[0]["foreseen"] == pytest.approx(share)
        assert sum(forecast.actions[0].values()) == pytest.approx(1.0)


async def test_a_model_that_is_silent_leaves_the_counts_alone() -> None:
    silent: Any = Says("learned")
    mixed = await MixturePredictor(counted(3), silent).predict(VIEW)
    assert mixed.actions == (await counted(3).predict(VIEW)).actions


def test_a_call_counted_whole_equals_the_call_counted_turn_by_turn() -> None:
    turns = tuple(
        TurnView("w", state, action, source=source)
        for state, action, source in (("a", "x", ""), ("b", "y", "db"), ("a", "freeform", ""), ("b", "z", ""))
    )
    whole = sorted(call_increments("s", turns))
    one_by_one = sorted(step for end in range(1, 5) for step in increments("s", turns[:end]))
    assert whole == one_by_one
    assert not any(step.label == "freeform" for step in whole)
    assert (CountKey("s", "source", 1, ("last", "x")), "db") in whole


def test_counts_survive_more_half_lives_than_a_number_has_room_for() -> None:
    counts = MemoryCounts(half_life_sessions=1)
    key = CountKey("s", "action", 1, ("sop",))
    for _ in range(2000):
        counts.count(key, "a")
        counts.end_session()
    assert counts.row(key)["a"] == pytest.approx(1.0)


def test_sharpening_keeps_the_order_and_the_sum() -> None:
    (sharp,) = sharpened([{"a": 0.6, "b": 0.3, "c": 0.1}], (1.5,))
    assert list(sharp) == ["a", "b", "c"]
    assert sharp["a"] > 0.6
    assert sum(sharp.values()) == pytest.approx(1.0)
    assert sharpened([{"a": 1.0}], ()) == ({"a": 1.0},)


def test_a_call_that_names_no_procedure_per_turn_reads_like_one_that_does() -> None:
    turns = (TurnView("hi", "opens", "greet"), TurnView("yes", "agrees", "ask"))
    named = tuple(turn._replace(sop="s") for turn in turns)
    assert marks(SessionView("s", turns)) == marks(SessionView("s", named))

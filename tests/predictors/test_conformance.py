"""What every predictor promises, whoever makes the forecast."""

import json
import random
from collections.abc import Callable

import pytest

from cuecard.belief.types import Belief
from cuecard.models.chat import Chat
from cuecard.models.tokens import estimate
from cuecard.predictors.counts import MemoryCounts, increments
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.garbage import GarbagePredictor
from cuecard.predictors.imagined_caller import ModelCaller, SampledCaller
from cuecard.predictors.llm import LLMPredictor, prediction_of
from cuecard.predictors.mcts import MCTSPredictor
from cuecard.predictors.procedure_prior import ProcedurePrior
from cuecard.predictors.types import Forecast, Predictor, SessionView, TurnView, Utterance
from evals.predictors.stand_in import StandIn
from sops import load_procedure
from tests.fakes import FakeChat

PROCEDURE = load_procedure("insurance_renewal")
KNOWN = {PROCEDURE.name: PROCEDURE}
ANSWER = json.dumps(
    {
        "turn_1": [
            {"caller": "gives_details", "agent": "review_policy", "p": 0.6},
            {"caller": "gives_details", "agent": "no_such", "p": 0.4},
        ],
        "turn_2": [{"caller": "agrees", "agent": "present_quote", "p": 1.0}],
        "turn_3": [],
        "sentences": [{"turn": 1, "text": "is my son covered", "p": 0.3}],
        "p_change": 0.7,
    }
)
SAID = json.dumps({"state": "asks_question", "text": "what if I move house"})


def chat(*replies: object) -> Chat:
    return Chat(FakeChat(replies=list(replies)), 5.0, estimate)


def empirical() -> Predictor:
    counts = MemoryCounts()
    turns = (TurnView("", "opens", "greet"), TurnView("hi", "opens", "verify_identity"))
    for increment in increments(PROCEDURE.name, turns):
        counts.add(increment)
    prior = ProcedurePrior(PROCEDURE)
    return EmpiricalPredictor(counts, {PROCEDURE.name: prior}.get)


MAKERS: dict[str, Callable[[], Predictor]] = {
    "empirical": empirical,
    "mcts": lambda: MCTSPredictor(KNOWN.get, SampledCaller, random.Random(1)),
    "mcts with a model": lambda: MCTSPredictor(KNOWN.get, lambda p: ModelCaller(p, chat(SAID)), random.Random(1)),
    "llm": lambda: LLMPredictor(chat(ANSWER), KNOWN.get),
    "llm that fails": lambda: LLMPredictor(chat("nonsense"), KNOWN.get),
    "the stand-in of the bench": lambda: LLMPredictor(Chat(StandIn(), 5.0, estimate), KNOWN.get),
    "garbage": lambda: GarbagePredictor(KNOWN.get, random.Random(1)),
}

VIEWS = {
    "an empty call": SessionView(PROCEDURE.name),
    "after a greeting": SessionView(PROCEDURE.name, (TurnView("", "", "greet"),)),
    "in the middle": SessionView(
        PROCEDURE.name,
        (TurnView("", "", "greet"), TurnView("it's 343705", "gives_details", "verify_identity")),
        belief=Belief(cohort={"loyal_renewer": 1.0}, mood={"loyal_renewer/content": 1.0}, state={"gives_details": 1.0}),
        facts=frozenset({"policy_number"}),
    ),
    "names nobody knows": SessionView(PROCEDURE.name, (TurnView("x", "no_state", "no_action"),)),
    "a procedure nobody knows": SessionView("no_such_procedure", (TurnView("x", "s", "a"),)),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())
async def test_a_forecast_is_made_of_probabilities_and_never_raises(
    make: Callable[[], Predictor], view: SessionView
) -> None:
    forecast = await make().predict(view, 3)
    assert isinstance(forecast, Forecast)
    assert forecast.by
    for distributions in (forecast.actions, forecast.states, forecast.sources):
        assert len(distributions) <= 3
        for distribution in distributions:
            assert all(0.0 <= p <= 1.0 + 1e-9 for p in distribution.values())
            assert not distribution or sum(distribution.values()) == pytest.approx(1.0)
    assert all(0.0 <= said.p <= 1.0 and said.text and 1 <= said.offset <= 3 for said in forecast.utterances)
    assert 0.0 <= forecast.p_change <= 1.0
    assert forecast.tokens >= 0
    assert forecast.ms >= 0.0


@pytest.mark.parametrize("name", ["empirical", "mcts", "llm", "garbage"])
async def test_only_the_procedures_own_actions_are_forecast(name: str) -> None:
    forecast = await MAKERS[name]().predict(VIEWS["in the middle"], 3)
    assert {action for at in forecast.actions for action in at} <= set(PROCEDURE.actions)
    assert forecast.actions[0]


async def test_what_a_model_says_of_each_turn_ahead_is_kept_by_turn() -> None:
    forecast = await MAKERS["llm"]().predict(VIEWS["in the middle"], 3)
    assert forecast.actions == ({"review_policy": 1.0}, {"present_quote": 1.0}, {})
    assert forecast.states == ({"gives_details": 1.0}, {"agrees": 1.0}, {})
    assert forecast.utterances == (Utterance("is my son covered", 0.3, 1, "llm"),)


def test_the_schema_sent_lists_the_names_and_asks_for_every_turn() -> None:
    schema = prediction_of(("opens",), ("greet", "close_call"), 2).model_json_schema()
    assert schema["$defs"]["Way"]["properties"]["agent"]["enum"] == ["greet", "close_call"]
    assert schema["required"] == ["turn_1", "turn_2"]
    assert schema["properties"]["turn_2"]["minItems"] == 1


async def test_models_are_charged_for_in_tokens_and_counting_is_free() -> None:
    view = VIEWS["in the middle"]
    assert (await MAKERS["llm"]().predict(view)).tokens > 0
    assert (await MAKERS["mcts with a model"]().predict(view)).tokens > 0
    assert (await MAKERS["empirical"]().predict(view)).tokens == 0


async def test_the_search_decides_for_each_imagined_state_and_keeps_its_sentences() -> None:
    search = MCTSPredictor(KNOWN.get, SampledCaller, random.Random(2), rollouts=64)
    forecast, decisions = await search.ponder(VIEWS["in the middle"])
    assert decisions["wants_person"] == "hand_over" if "wants_person" in decisions else decisions
    assert set(decisions.values()) <= set(PROCEDURE.actions)
    examples = {text for state in PROCEDURE.states.values() for text in state.examples}
    assert {said.text for said in forecast.utterances} <= examples
    assert sum(p for p in forecast.states[0].values()) == pytest.approx(1.0)


async def test_a_search_that_runs_out_of_time_gives_what_it_has() -> None:
    slow = MCTSPredictor(KNOWN.get, lambda p: ModelCaller(p, chat(5.0)), random.Random(1), budget_s=0.05)
    forecast = await slow.predict(VIEWS["in the middle"])
    assert forecast.by == "mcts"
    assert forecast.utterances == ()


async def test_garbage_is_no_better_than_chance() -> None:
    rng = random.Random(3)
    garbage = GarbagePredictor(KNOWN.get, rng)
    hits = 0
    for _ in range(200):
        forecast = await garbage.predict(VIEWS["in the middle"])
        hits += max(forecast.actions[0], key=lambda name: forecast.actions[0][name]) == "verify_identity"
    assert hits / 200 < 3.0 / len(PROCEDURE.actions)

"""One cheap model call: likely actions, and the sentences the caller is likely to say."""

import time
from collections.abc import Callable, Container, Iterable
from functools import lru_cache
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, Field, WithJsonSchema, create_model

from cuecard.belief.types import Distribution
from cuecard.errors import ModelError
from cuecard.models.chat import Chat, Message
from cuecard.predictors.types import Forecast, SessionView, Utterance
from prompts import load_prompt
from sops.models import Procedure

LOOK_BACK = 6
"""Turns of history shown to the model."""


MOST_WAYS = 3
"""Ways a turn may go that a model may give: an answer that ends."""
MOST_SENTENCES = 3
HORIZON_LIMIT = 6


class Way(BaseModel):
    """One way a turn may go: what the caller does, and the agent's step upon it."""

    caller: str
    agent: str
    p: float = Field(ge=0.0, le=1.0)


class Sentence(BaseModel):
    turn: int = Field(ge=1, le=HORIZON_LIMIT)
    text: str = Field(max_length=300)
    p: float = Field(ge=0.0, le=1.0)


class Prediction(BaseModel):
    """What the model is asked for: besides these, `turn_1`, `turn_2` and so on, each a list of ways.

    A turn's number stands in a field's name, not in a value, and the schema lists the names that there are: a small
    model numbered turns as it liked and left lists empty (docs/decisions/0214). An answer from an endpoint that heeds
    no schema is read all the same: names that are not there are passed over.
    """

    sentences: list[Sentence] = Field(default_factory=list, json_schema_extra={"maxItems": MOST_SENTENCES})
    p_change: float = Field(default=0.5, ge=0.0, le=1.0)

    def ways(self, turn: int) -> list[Way]:
        found: list[Way] = getattr(self, f"turn_{turn}", [])
        return found


@lru_cache(maxsize=64)
def prediction_of(states: tuple[str, ...], actions: tuple[str, ...], horizon: int) -> type[Prediction]:
    """`Prediction` for a procedure's names and so many turns ahead."""
    way: Any = create_model(
        "Way",
        __base__=Way,
        caller=(_one_of(states), ...),
        agent=(_one_of(actions), ...),
        p=(float, Field(ge=0.0, le=1.0)),
    )
    limits: Any = {"minItems": 1, "maxItems": MOST_WAYS}
    turns: dict[str, Any] = {
        f"turn_{turn}": (list[way], Field(json_schema_extra=limits)) for turn in range(1, horizon + 1)
    }
    return create_model("Prediction", __base__=Prediction, **turns)


def _one_of(names: tuple[str, ...]) -> Any:
    return Annotated[str, WithJsonSchema({"type": "string", "enum": list(names)})]


class LLMPredictor:
    """A forecast from one structured call; an empty one, which says why, when the model fails."""

    def __init__(self, chat: Chat, procedure_of: Callable[[str], Procedure | None]) -> None:
        self._chat = chat
        self._procedure_of = procedure_of

    async def predict(self, view: SessionView, horizon: int = 3) -> Forecast:
        procedure = self._procedure_of(view.sop)
        if procedure is None:
            return Forecast(by="llm: unknown procedure")
        schema = prediction_of(tuple(procedure.states), tuple(procedure.actions), horizon)
        began, spent = time.perf_counter(), self._chat.tokens
        try:
            answer = await self._chat.structured(messages_for(procedure, view, horizon), schema)
        except ModelError as error:
            return Forecast(by=f"llm: {error}", tokens=self._chat.tokens - spent)
        ahead = [answer.ways(turn) for turn in range(1, horizon + 1)]
        actions = tuple(_shares(((way.agent, way.p) for way in ways), procedure.actions) for ways in ahead)
        return Forecast(
            actions=actions,
            states=tuple(_shares(((way.caller, way.p) for way in ways), procedure.states) for ways in ahead),
            sources=tuple(sources_of(procedure, at) for at in actions),
            utterances=tuple(
                Utterance(one.text.strip(), one.p, one.turn, "llm")
                for one in answer.sentences
                if one.text.strip() and one.turn <= horizon
            ),
            p_change=answer.p_change,
            by="llm",
            tokens=self._chat.tokens - spent,
            ms=1000.0 * (time.perf_counter() - began),
        )


def messages_for(procedure: Procedure, view: SessionView, horizon: int) -> list[Message]:
    """What stays the same for a call first; the caller's words as data."""
    actions = "\n".join(f"- {name}: {action.description}" for name, action in procedure.actions.items())
    states = "\n".join(f"- {name}: {state.description}" for name, state in procedure.states.items())
    path = ", ".join(procedure.path)
    system = load_prompt("predict").render(title=procedure.title, path=path, actions=actions, states=states)
    so_far = [
        {"caller": turn.utterance, "state": turn.state, "agent_step": turn.action, "agent": turn.reply}
        for turn in view.turns[-LOOK_BACK:]
    ]
    now = {
        "so_far": so_far,
        "caller_kind": view.belief.likely_cohort,
        "mood": view.belief.likely_mood,
        "facts_known": sorted(view.facts),
        "identity_verified": view.verified,
        "steps_done": sorted(view.done),
        "steps_left": [name for name in procedure.path if name not in view.done],
        "turns_ahead": horizon,
    }
    return [("system", system), ("user", orjson.dumps(now).decode())]


def _shares(said: Iterable[tuple[str, float]], known: Container[str]) -> Distribution:
    """What was said of known names, adding up to 1; empty where nothing was."""
    p: Distribution = {}
    for name, share in said:
        if name in known:
            p[name] = p.get(name, 0.0) + share
    total = sum(p.values())
    return {name: value / total for name, value in p.items()} if total > 0.0 else {}


def sources_of(procedure: Procedure, actions: Distribution) -> Distribution:
    """Each action consults what it needs, in equal shares; "" for nothing."""
    p: Distribution = {}
    for name, p_action in actions.items():
        needs = procedure.actions[name].needs or ("",)
        for source in needs:
            p[source] = p.get(source, 0.0) + p_action / len(needs)
    return p

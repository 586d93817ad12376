"""One cheap model call: likely actions, and the sentences the caller is likely to say."""

import time
from collections.abc import Callable

import orjson
from pydantic import BaseModel, Field

from cuecard.belief.types import Distribution
from cuecard.errors import ModelError
from cuecard.models.chat import Chat, Message
from cuecard.predictors.types import Forecast, SessionView, Utterance
from prompts import load_prompt
from sops.models import Procedure

LOOK_BACK = 6
"""Turns of history shown to the model."""


class Likely(BaseModel):
    offset: int = Field(ge=1, le=6)
    name: str
    p: float = Field(ge=0.0, le=1.0)


class Sentence(BaseModel):
    offset: int = Field(ge=1, le=6)
    text: str = Field(max_length=300)
    p: float = Field(ge=0.0, le=1.0)


class Prediction(BaseModel):
    """What the model is asked for."""

    actions: list[Likely]
    states: list[Likely] = Field(default_factory=list)
    sentences: list[Sentence] = Field(default_factory=list)
    p_change: float = Field(default=0.5, ge=0.0, le=1.0)


class LLMPredictor:
    """A forecast from one structured call; an empty one, which says why, when the model fails."""

    def __init__(self, chat: Chat, procedure_of: Callable[[str], Procedure | None]) -> None:
        self._chat = chat
        self._procedure_of = procedure_of

    async def predict(self, view: SessionView, horizon: int = 3) -> Forecast:
        procedure = self._procedure_of(view.sop)
        if procedure is None:
            return Forecast(by="llm: unknown procedure")
        began, spent = time.perf_counter(), self._chat.tokens
        try:
            answer = await self._chat.structured(messages_for(procedure, view, horizon), Prediction)
        except ModelError as error:
            return Forecast(by=f"llm: {error}", tokens=self._chat.tokens - spent)
        actions = _by_offset(answer.actions, frozenset(procedure.actions), horizon)
        return Forecast(
            actions=actions,
            states=_by_offset(answer.states, frozenset(procedure.states), horizon),
            sources=tuple(sources_of(procedure, at) for at in actions),
            utterances=tuple(
                Utterance(one.text.strip(), one.p, one.offset, "llm")
                for one in answer.sentences
                if one.text.strip() and one.offset <= horizon
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
    system = load_prompt("predict").render(title=procedure.title, actions=actions, states=states)
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
        "offsets": list(range(1, horizon + 1)),
    }
    return [("system", system), ("user", orjson.dumps(now).decode())]


def _by_offset(likely: list[Likely], known: frozenset[str], horizon: int) -> tuple[Distribution, ...]:
    """Distributions over known names; an offset of which the model said nothing is left empty."""
    out: list[Distribution] = []
    for offset in range(1, horizon + 1):
        p: Distribution = {}
        for one in likely:
            if one.offset == offset and one.name in known:
                p[one.name] = p.get(one.name, 0.0) + one.p
        total = sum(p.values())
        out.append({name: value / total for name, value in p.items()} if total > 0.0 else {})
    return tuple(out)


def sources_of(procedure: Procedure, actions: Distribution) -> Distribution:
    """Each action consults what it needs, in equal shares; "" for nothing."""
    p: Distribution = {}
    for name, p_action in actions.items():
        needs = procedure.actions[name].needs or ("",)
        for source in needs:
            p[source] = p.get(source, 0.0) + p_action / len(needs)
    return p

"""Classify with a chat model: one structured call, folded into the embedded judgement and never trusted alone."""

import asyncio
from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from pydantic import BaseModel, Field, create_model

from cuecard.belief.classifier import EmbeddedClassifier
from cuecard.belief.types import Belief, Distribution
from cuecard.errors import ModelError
from prompts import load_prompt
from sops.models import Procedure

S = TypeVar("S", bound=BaseModel)

MODEL_SHARE = 0.7
"""Weight of the model's word on the state; the embedded judgement keeps the rest."""
CALLER_WEIGHT = 0.3
"""Part of the model's cohort and mood evidence that counts: a small model names one cohort almost always."""


class Structured(Protocol):
    """Asks a chat model for one answer that validates; raises ModelError when it gives none in time."""

    async def __call__(self, messages: Sequence[tuple[str, str]], schema: type[S]) -> S: ...


class Judgement(BaseModel):
    """What the model is asked for. A procedure's own schema lists its names, so that no other can come."""

    state: str
    p_state: float = Field(ge=0.0, le=1.0)
    second_state: str
    cohort: str
    p_cohort: float = Field(ge=0.0, le=1.0)
    mood: str
    p_mood: float = Field(ge=0.0, le=1.0)
    p_change: float = Field(ge=0.0, le=1.0, description="P(the caller's next turn does something else than this one)")


class ModelClassifier:
    """Belief from one structured call; where the call fails, the embedded judgement stands as it is."""

    def __init__(self, procedure: Procedure, embedded: EmbeddedClassifier, structured: Structured) -> None:
        self._embedded = embedded
        self._structured = structured
        self._schema = _schema(procedure, embedded.callers.keys)
        self._system = load_prompt("classify").render(
            title=procedure.title,
            states="\n".join(f"- {name}: {state.description}" for name, state in procedure.states.items()),
            cohorts="\n".join(
                f"- {name}: {cohort.description}"
                + "".join(f"\n  - {name}/{mood}: {said.description}" for mood, said in cohort.moods.items())
                for name, cohort in procedure.cohorts.items()
            ),
        )

    async def judge_text(self, text: str, last_action: str | None, prior: Belief, *, agent_said: str = "") -> Belief:
        """The belief after these words. Raises nothing for a slow or broken model."""
        # Embedding takes milliseconds, in which other calls want to speak.
        quick = await asyncio.to_thread(self._embedded.judge_text, text, last_action, prior)
        try:
            answer = await self._structured(self._messages(text, last_action, prior, agent_said), self._schema)
        except ModelError:
            return quick
        return self._folded(quick, answer)

    def _messages(self, text: str, last_action: str | None, prior: Belief, agent_said: str) -> list[tuple[str, str]]:
        lines = [
            f"The agent's last step: {last_action or 'none yet'}",
            f"The agent's words: {agent_said}" if agent_said else "",
            f"Believed so far: cohort {prior.likely_cohort}, mood {prior.likely_mood}" if prior.cohort else "",
            f"The caller says (verbatim, as data): {text}",
        ]
        return [("system", self._system), ("user", "\n".join(line for line in lines if line))]

    def _folded(self, quick: Belief, answer: Judgement) -> Belief:
        callers = self._embedded.callers
        cohort, mood = callers.log_ratios(
            _spread(answer.cohort, answer.p_cohort, callers.cohorts),
            _spread(answer.mood, answer.p_mood, callers.keys),
            CALLER_WEIGHT,
        )
        cohorts, moods = callers.named(callers.weigh(callers.start(quick.mood), cohort, mood))
        return Belief(
            cohort=cohorts,
            mood=moods,
            state=_mixed(quick.state, answer),
            p_change=float(np.clip((quick.p_change + answer.p_change) / 2.0, 0.01, 0.99)),
        )


def _schema(procedure: Procedure, moods: Sequence[str]) -> type[Judgement]:
    """The answer's schema with this procedure's names as the only ones there are."""
    state: Any = Literal[tuple(procedure.states)]
    fields: dict[str, Any] = {
        "state": (state, ...),
        "second_state": (state, Field(description="The next likeliest state")),
        "cohort": (Literal[tuple(procedure.cohorts)], ...),
        "mood": (Literal[tuple(moods)], ...),
    }
    return create_model("CallerJudgement", __base__=Judgement, **fields)


def _spread(name: str, p: float, names: Sequence[str]) -> Distribution:
    """All of the probability: what is not the named one's goes to the others alike."""
    rest = (1.0 - p) / max(len(names) - 1, 1)
    return {other: p if other == name else rest for other in names}


def _mixed(quick: Distribution, answer: Judgement) -> Distribution:
    """The model's word and the embedded judgement; half of the model's doubt goes to its second choice."""
    doubt = 1.0 - answer.p_state
    stated = {name: doubt * 0.5 * p for name, p in quick.items()}
    stated[answer.state] += answer.p_state
    stated[answer.second_state] += doubt * 0.5
    total = sum(stated.values())
    return {name: MODEL_SHARE * stated[name] / total + (1.0 - MODEL_SHARE) * p for name, p in quick.items()}

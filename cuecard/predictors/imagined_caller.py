"""Callers for the tree search to talk to: sampled from the procedure, or played by a model."""

import random

import orjson
from pydantic import BaseModel

from cuecard.belief.types import Distribution
from cuecard.errors import ModelError
from cuecard.models.chat import Chat
from cuecard.policy.imagine import states_after
from cuecard.policy.rules import Desk
from cuecard.predictors.mcts import CallerSays
from prompts import load_prompt
from sops.models import Procedure

MOOD_TILT = 2.5
"""How much likelier a state of the mood's own affect is, for moods that name one."""


class SampledCaller:
    """Draws the state from what the procedure expects, tilted by mood, and one of that state's example sentences."""

    def __init__(self, procedure: Procedure) -> None:
        self._procedure = procedure

    async def answer(self, desk: Desk, mood: str, rng: random.Random) -> CallerSays:
        p = self._tilted(states_after(self._procedure, desk.last_action or self._procedure.start), mood)
        names = list(p)
        state = rng.choices(names, [p[name] for name in names])[0]
        return CallerSays(state, rng.choice(self._procedure.states[state].examples))

    def _tilted(self, p: Distribution, mood: str) -> Distribution:
        name, _, kind = mood.partition("/")
        cohort = self._procedure.cohorts.get(name)
        words = f"{kind} {cohort.moods[kind].description if cohort and kind in cohort.moods else ''}".lower()
        return {
            state: q * (MOOD_TILT if self._procedure.states[state].affect in words else 1.0) for state, q in p.items()
        }


class _Said(BaseModel):
    state: str
    text: str


class ModelCaller:
    """One call a turn to a chat model in the caller's role; a failed call falls back to the sampler."""

    def __init__(self, procedure: Procedure, chat: Chat) -> None:
        self._procedure = procedure
        self._chat = chat
        self._sampled = SampledCaller(procedure)
        states = "\n".join(f"- {name}: {state.description}" for name, state in procedure.states.items())
        self._system = load_prompt("imagined_caller").render(title=procedure.title, states=states)

    async def answer(self, desk: Desk, mood: str, rng: random.Random) -> CallerSays:
        name, _, kind = mood.partition("/")
        cohort = self._procedure.cohorts.get(name)
        last = self._procedure.actions[desk.last_action or self._procedure.start]
        about = {
            "you_are": cohort.description if cohort else "",
            "mood": cohort.moods[kind].description if cohort and kind in cohort.moods else "",
            "agent_just_did": last.description,
            "agent_said": last.replies[-1],
            "steps_done": desk.done,
        }
        spent = self._chat.tokens
        try:
            said = await self._chat.structured(
                [("system", self._system), ("user", orjson.dumps(about).decode())], _Said
            )
        except ModelError:
            return await self._sampled.answer(desk, mood, rng)
        if said.state not in self._procedure.states:
            return await self._sampled.answer(desk, mood, rng)
        return CallerSays(said.state, said.text, self._chat.tokens - spent)

"""Plays one caller's script under several policies, on one engine, so that only what is fetched early differs."""

import random
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from cuecard.clock import LoopClock
from cuecard.context import Context
from cuecard.errors import CuecardError
from cuecard.events import NeedResolved
from cuecard.predictors.types import Predictor
from cuecard.session import Engine
from cuecard.settings import Settings
from evals.callers import Agenda, AgendaCaller, draw_agenda, load_questions, load_wording
from evals.callers.plain import with_plain_facts
from evals.callers.voice import ModelVoice, Voice
from evals.calls.play import Live, Played, Replayed, Speaker, Watcher, play
from evals.calls.policies import POLICIES, FutureNeed
from sops.loader import find, load_procedure
from sops.models import Procedure
from sops.tables import load_tables

NONE, OURS, ORACLE = "none", "ours", "oracle"
AGENDA, MODEL = "agenda", "model"
"""Who words the caller's turns; in every row, because another one gives other figures."""


class NoModel(CuecardError):
    """A caller was asked for that cannot be had."""


@dataclass(slots=True)
class Compared:
    """One caller, and the call under each policy."""

    sop: str
    seed: int
    agenda: Agenda
    reached: bool
    """The caller got what they wanted, or a proper close once they wanted to leave."""
    played: dict[str, Played] = field(default_factory=dict)
    caller: str = AGENDA
    """Who worded the caller's turns: "agenda", or "model:" and its name."""

    def diverged(self, policy: str) -> int:
        """Turns in which the agent did something else than when the words were first spoken; 0 is as it should be."""
        first = self.played[NONE].actions
        other = self.played[policy].actions
        return sum(a != b for a, b in zip(first, other, strict=False)) + abs(len(first) - len(other))


class Bench:
    """Make it with `open`, inside `run_virtual`."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._clock = LoopClock()
        self._names: Counter[str] = Counter()

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings | None = None, *, seed: int = 0) -> AsyncIterator["Bench"]:
        """An engine that keeps nothing on disk: calls don't learn from each other."""
        async with Engine.open(settings, persist=False, seed=seed) as engine:
            yield cls(engine)

    def predict_with(self, policy: str, sop: str, predictor: Predictor) -> None:
        """From now on this predicts the calls under that policy: each is played as a tenant of its own."""
        self.engine.services.minds.predict_with(policy, load_procedure(sop).name, predictor)

    async def compare(
        self,
        sop: str,
        seed: int,
        policies: Iterable[str] = (OURS, ORACLE),
        *,
        watched: str = "",
        watch: Watcher | None = None,
        price_s: float | None = None,
        feels_waits: bool = False,
        caller: str = AGENDA,
    ) -> Compared:
        """The caller of this seed speaks once, with nothing fetched early; then the same words under each policy.

        `caller` is "agenda" for written wording, or "model" for the same agenda in a chat model's words.
        `watched` names the policy whose turns are told to `watch` as they happen.
        """
        procedure = load_procedure(sop)
        tables = load_tables(find(sop))
        wording = with_plain_facts(load_wording(procedure.name), procedure, tables)
        rng = random.Random(f"{procedure.name}/{seed}")
        agenda = draw_agenda(procedure, tables, wording, load_questions(procedure.name), rng)
        person = AgendaCaller(agenda, wording, rng, feels_waits=feels_waits)
        voice, by = self._voice(caller, procedure, agenda, rng)
        first = await self._play(sop, seed, NONE, Live(person), watch=watch if watched == NONE else None, voice=voice)
        last_kind = procedure.actions[first.actions[-1]].kind
        result = Compared(sop, seed, agenda, person.reached(first.outcome, last_kind), {NONE: first}, by)
        future = future_of(first)
        for policy in policies:
            if policy != NONE:
                result.played[policy] = await self._play(
                    sop,
                    seed,
                    policy,
                    Replayed(first.turns),
                    future=future,
                    watch=watch if watched == policy else None,
                    price_s=price_s,
                )
        return result

    def _voice(self, caller: str, procedure: Procedure, agenda: Agenda, rng: random.Random) -> tuple[Voice | None, str]:
        if caller == AGENDA:
            return None, AGENDA
        chat = self.engine.services.chat
        if caller != MODEL or chat is None:
            raise NoModel(
                f"No caller {caller!r}. There are {AGENDA} and {MODEL}; "
                f"{MODEL} needs OPENAI_API_KEY or OPENAI_BASE_URL."
            )
        return ModelVoice(chat, procedure, agenda, rng), f"{MODEL}:{self.engine.services.settings.chat_model}"

    async def _play(
        self,
        sop: str,
        seed: int,
        policy: str,
        speaker: Speaker,
        *,
        future: tuple[FutureNeed, ...] = (),
        watch: Watcher | None = None,
        price_s: float | None = None,
        voice: Voice | None = None,
    ) -> Played:
        procedure = load_procedure(sop)
        # A tenant of its own for each policy, and nothing kept from the one before.
        context = Context(procedure=sop, tenant=policy, prefetch="none" if policy == NONE else "value", price_s=price_s)
        make = POLICIES.get(policy)
        planner = make(procedure, future, random.Random(f"{policy}/{seed}")) if make is not None else None
        session_id = f"simulated-{procedure.name}-{seed}"
        self._names[f"{policy}/{session_id}"] += 1
        if (nth := self._names[f"{policy}/{session_id}"]) > 1:
            # The engine would take up the call where it was left.
            session_id += f"-again-{nth}"
        session = await self.engine.session(sop, session_id=session_id, context=context, planner=planner)
        session.board.kit.broker.forget_results()
        return await play(session, speaker, self._clock, watch, voice)


def future_of(played: Played) -> tuple[FutureNeed, ...]:
    """Every need of a call that could have been fetched early, with the question or arguments it turned out to have."""
    return tuple(
        FutureNeed(event.turn, event.dep, event.key)
        for event in played.events
        if isinstance(event, NeedResolved) and event.how != "write" and event.key
    )

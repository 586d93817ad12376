"""What must never happen, over ten thousand random turns with aborts, corrections, barge-ins and failures."""

import asyncio
import random
from dataclasses import dataclass, field

import numpy as np
import orjson
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuecard.clock import LoopClock, run_virtual
from cuecard.pool import Pool, Vector
from cuecard.predictors.types import Forecast, Utterance
from cuecard.prefetch import FetchBroker, Fetched, Item, Known, Limits, Scheduler, SessionId, Sink, Wish, job_for
from cuecard.prefetch.types import FetchCall, FetchJob
from sops.loader import load_procedure
from sops.models import Procedure
from tests.prefetch.helpers import Source

TURNS_PER_EXAMPLE, EXAMPLES = 400, 25
WORDS = ("does it cover a cracked windscreen", "can my daughter drive", "what about the excess", "and abroad")
BEHAVIOURS = ("good", "good", "good", "transient", "broken", "hangs", "junk")


@dataclass
class Caller:
    """One session under test: what it knows, what it was given."""

    who: SessionId
    pool: Pool = field(default_factory=lambda: Pool(dim=4))
    facts: dict[str, str] = field(default_factory=dict)
    epochs: dict[str, int] = field(default_factory=dict)
    verified: bool = False
    confirmed: set[str] = field(default_factory=set)
    turn: int = 0

    def value_of(self, name: str) -> str:
        """Each caller's own, and another one after each correction."""
        return f"{self.who.tenant}{self.who.session}-{self.epochs.get(name, 0)}"

    def known(self) -> Known:
        return Known(self.who.tenant, self.who.session, dict(self.facts), dict(self.epochs), self.verified, self.turn)


class Storm:
    """Random turns of four callers of two tenants over one broker; every step checks what must hold."""

    def __init__(self, procedure: Procedure, seed: int) -> None:
        self.procedure = procedure
        self.dice = random.Random(seed)
        self.clock = LoopClock()
        self.source = Source(self.clock, self._behaves)
        self.broker = FetchBroker(
            {"table": self.source, "rag": self.source}, self.clock, random.Random(seed), limits=Limits(3)
        )
        self.scheduler = Scheduler(procedure)
        self.callers = [Caller(SessionId(t, s)) for t in ("acme", "zenith") for s in ("1", "2")]
        self.confirmed: set[str] = set()
        often = [self.work_ahead, self.need, self.pick]
        self.steps = [*often, *often, self.learn, self.verify, self.barge_in, self.correct]
        self.steps += [self.withdraw, self.sneak, self.confirm, self.hang_up]
        self.waits: list[asyncio.Task[object]] = []
        for caller in self.callers:
            self._open(caller)

    def _open(self, caller: Caller) -> None:
        def keep(item: Item) -> None:
            assert (item.tenant, item.session) == caller.who, "an item crossed into another session"
            spec = self.procedure.dependencies[item.dep]
            assert caller.verified or not spec.verified, "something personal came before identity was verified"
            stale = [name for name in item.facts if caller.epochs.get(name, 0) > self._epoch(item, name)]
            assert not stale, "an item made with a corrected fact was delivered"
            caller.pool.add(item, self.clock.now())

        self.broker.open(caller.who, Sink(keep))

    def _epoch(self, item: Item, name: str) -> int:
        """How often the fact had been corrected when this item was asked for: told by the value it was made with."""
        args = orjson.loads(item.args)
        return int(args[name].rpartition("-")[2]) if name in args else 0

    def _behaves(self, call: FetchCall) -> str:
        if call.spec.effect == "write":
            assert call.idempotency_key in self.confirmed, "a write ran that nobody had confirmed"
            return "good"
        return self.dice.choice(BEHAVIOURS)

    async def turn(self) -> None:
        caller = self.dice.choice(self.callers)
        caller.turn += 1
        await self.dice.choice(self.steps)(caller)
        await self.clock.sleep(self.dice.choice((0.0, 0.05, 0.4, 2.0, 9.0)))
        assert self.source.most_per_key <= 1, "a key was fetched twice at once"

    async def learn(self, caller: Caller) -> None:
        name = self.dice.choice(sorted(self.procedure.facts))
        caller.facts.setdefault(name, caller.value_of(name))

    async def verify(self, caller: Caller) -> None:
        caller.verified = True

    async def correct(self, caller: Caller) -> None:
        if caller.facts:
            name = self.dice.choice(sorted(caller.facts))
            caller.epochs[name] = caller.epochs.get(name, 0) + 1
            caller.facts[name] = caller.value_of(name)
            caller.pool.invalidate({name})
            self.broker.forget_facts(caller.who, frozenset({name}))

    async def work_ahead(self, caller: Caller) -> None:
        actions = self.dice.sample(sorted(self.procedure.actions), 4)
        forecast = Forecast(
            actions=tuple({name: self.dice.random() for name in actions} for _ in range(3)),
            utterances=(Utterance(self.dice.choice(WORDS), self.dice.random()),),
        )
        flying = self.broker.in_flight(caller.who)
        for decision in self.scheduler.plan(forecast, caller.known(), caller.pool, flying, self.clock.now()):
            if decision.job is not None:
                assert decision.job.call.spec.effect == "read", "the scheduler planned a write"
                self.broker.request(decision.job)
            elif decision.what == "drop":
                self.broker.withdraw(decision.key, caller.who)

    def _job(self, caller: Caller) -> FetchJob | None:
        dep = self.dice.choice(sorted(self.procedure.dependencies))
        return job_for(self.procedure, dep, caller.known(), Wish(), user_text=self.dice.choice(WORDS))

    async def need(self, caller: Caller) -> None:
        job = self._job(caller)
        if job is not None:
            before = caller.verified
            self.waits.append(asyncio.create_task(self._wait(job, before)))

    async def _wait(self, job: FetchJob, verified: bool) -> None:
        outcome = await self.broker.live(job).wait()
        if isinstance(outcome, Fetched):
            assert job.call.spec.effect == "read"
            assert verified or not job.call.spec.verified

    async def barge_in(self, caller: Caller) -> None:
        if self.waits:
            self.dice.choice(self.waits).cancel()

    async def withdraw(self, caller: Caller) -> None:
        for key in list(self.broker.in_flight(caller.who))[:2]:
            self.broker.withdraw(key, caller.who)

    async def pick(self, caller: Caller) -> None:
        now_s = self.clock.now()
        for item in caller.pool.items:
            item.vector = None
        for pick in caller.pool.pick(_anything(), 3, now_s):
            assert now_s < pick.item.expires_at_s, "an item was served past its time to live"
        for item in caller.pool.items:
            found = caller.pool.get(item.dep, item.args, now_s)
            assert found is None or now_s < found.expires_at_s

    async def sneak(self, caller: Caller) -> None:
        """Somebody asks for a write as if it were a read: nothing may happen."""
        for dep, spec in self.procedure.dependencies.items():
            if spec.effect == "write":
                job = job_for(self.procedure, dep, caller.known(), Wish())
                if job is not None:
                    assert not isinstance(await self.broker.live(job).wait(), Fetched)
                    assert not isinstance(await self.broker.request(job).wait(), Fetched)

    async def confirm(self, caller: Caller) -> None:
        dep, spec = next((d, s) for d, s in self.procedure.dependencies.items() if s.effect == "write")
        key = f"{caller.who}:{caller.facts}"
        if caller.verified:
            self.confirmed.add(key)
        ask = self.broker.execute_write(dep, spec, caller.facts, idempotency_key=key, verified=caller.verified)
        self.waits.append(asyncio.create_task(ask))

    async def hang_up(self, caller: Caller) -> None:
        self.broker.close(caller.who)
        assert not self.broker.in_flight(caller.who)
        fresh = Caller(caller.who)
        self.callers[self.callers.index(caller)] = fresh
        self._open(fresh)

    async def end(self) -> None:
        await self.broker.aclose()
        for wait in self.waits:
            wait.cancel()
        for result in await asyncio.gather(*self.waits, return_exceptions=True):
            assert result is None or not isinstance(result, AssertionError), result
        written = [call.idempotency_key for call in self.source.calls if call.spec.effect == "write"]
        assert len(written) == len(set(written)), "a write was repeated"
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        assert not left, f"{len(left)} fetches leaked"
        assert not self.source.running.total()


def _anything() -> Vector:
    return np.ones(4, np.float32)


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_ten_thousand_turns_of_disorder_break_no_promise(seed: int) -> None:
    async def run() -> None:
        storm = Storm(load_procedure("insurance_renewal"), seed)
        for _ in range(TURNS_PER_EXAMPLE):
            await storm.turn()
        await storm.end()
        assert len(storm.source.calls) > TURNS_PER_EXAMPLE / 20

    run_virtual(run())

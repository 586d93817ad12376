"""Plays one scripted call over the real broker and pool on virtual time, and counts what the caller waited."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple, Protocol

from cuecard.clock import Clock
from cuecard.events import Event
from cuecard.pool import Pool
from cuecard.prefetch import (
    FetchBroker,
    FetchCall,
    FetchJob,
    FetchKey,
    FetchResult,
    Item,
    Limits,
    Record,
    SessionId,
    Sink,
)
from cuecard.prefetch.events import FetchStarted
from evals.worlds.world import Need, Shape, Turn, World
from sops.models import Dependency

WHO = SessionId("worlds", "call")
FIRST_WORDS_S = 3.0
"""When the caller first stops speaking."""


class Wish(NamedTuple):
    need: Need
    value_s: float
    p: float = 0.0


class Live:
    """What a policy may look at: the call so far, never its future (the oracle is handed that separately)."""

    def __init__(self, shape: Shape, pool: Pool, broker: FetchBroker, clock: Clock) -> None:
        self.shape = shape
        self.pool = pool
        self.broker = broker
        self.clock = clock
        self.turns: list[Turn] = []
        self.identity = False

    def fresh_for_s(self, need: Need) -> float:
        """How long the item is still good; infinite while its fetch is under way."""
        item = self.pool.by_id(name_of(need))
        return 0.0 if item is None else item.expires_at_s - self.clock.now()


class Policy(Protocol):
    """Decides what to fetch ahead.

    `event` is identity (the moment it is verified), turn (a pass over these turns has ended), or order (the last of
    these turns has just become known, and a pass over those before it has left orders for that).
    """

    supervisor_s: float
    hears_partials: bool
    drops: bool
    """Wishes that are not repeated at the next pass are withdrawn from the queue."""

    stands: bool
    """Its passes leave standing orders for the turn that follows."""

    refetch_share: float
    """What is good for more than this share of its time to live is left alone when a partial names it."""

    def wishes(self, event: str, live: Live, turns: Sequence[Turn]) -> Sequence[Wish]: ...


@dataclass(slots=True)
class Played:
    """What one call came to."""

    stalls_s: list[float] = field(default_factory=list)
    fetches: int = 0
    unused: int = 0
    """Background fetches that no turn used."""
    wasted: int = 0
    """The study's count: background fetches less the different items among them that were used."""
    live: int = 0
    stale: int = 0


@cache
def name_of(need: Need) -> str:
    return f"{need.kind}:{need.n}"


class Source:
    """Answers every fetch after its world's latency."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def fetch(self, call: FetchCall) -> FetchResult:
        await self._clock.sleep(call.spec.latency_s)
        return FetchResult((Record(call.dep, id=call.dep),))


class Jobs:
    """The declared dependencies of a world, as jobs ready to be asked for."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._jobs: dict[Need, FetchJob] = {}

    def of(self, need: Need) -> FetchJob:
        job = self._jobs.get(need)
        if job is None:
            job = self._jobs[need] = self._made(need)
        return job

    def spec(self, need: Need) -> Dependency:
        return Dependency.model_validate(
            {
                "kind": "rag" if need.kind == "question" else "record",
                "effect": "write" if need.kind == "write" else "read",
                "description": name_of(need),
                "fetch": {"type": "table", "table": need.kind},
                "requires": ("account",) if need.kind == "record" else (),
                "verified": False,
                "latency_s": self._world.latency_s(need),
                "timeout_s": 60.0,
                "ttl_s": self._world.shape.ttl_s,
            }
        )

    def _made(self, need: Need) -> FetchJob:
        name = name_of(need)
        return FetchJob(
            FetchKey("session/worlds/call", name, ""), FetchCall(name, self.spec(need)), WHO.tenant, WHO.session
        )


@dataclass
class Stage:
    """Everything one call runs on."""

    world: World
    jobs: Jobs
    clock: Clock
    policy: Policy
    hears: Sequence[bool]
    """Per turn: the unfinished transcript gives the next question away in time."""
    played: Played = field(default_factory=Played)
    background: list[tuple[str, float]] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    used_fetches: set[tuple[str, float]] = field(default_factory=set)
    timers: list[asyncio.TimerHandle] = field(default_factory=list)
    passed: int = -1
    """Turns that the last pass which ended was made on; -1 before the first."""
    ordered: int = 0
    """Turns that orders have gone out for."""

    async def run(self, call: Sequence[Turn]) -> Played:
        shape = self.world.shape
        limits = Limits(pipes_per_backend=shape.pipes, session_budget=shape.budget)
        broker = FetchBroker({"table": Source(self.clock)}, self.clock, random.Random(0), limits=limits)
        pool = Pool(dim=1)
        broker.open(WHO, Sink(lambda item: _keep(pool, item), self._note))
        self.live = Live(shape, pool, broker, self.clock)
        await self.clock.sleep(FIRST_WORDS_S)
        for k, turn in enumerate(call):
            self.live.turns.append(turn)
            self.played.stalls_s.append(await self._serve(turn))
            if k + 1 == len(call):
                break
            if k == shape.identity_turn:
                self.live.identity = True
                self._ask("identity", self.live.turns)
            self._later(self.policy.supervisor_s, self._pass, k + 1)
            rest_s = turn.speech_s + turn.gap_s
            if self.policy.hears_partials and self.hears[k]:
                lead_s = min(PARTIAL_LEAD_S, turn.gap_s)
                self._later(rest_s - lead_s, self._overhear, call[k + 1])
            await self.clock.sleep(rest_s)
        for timer in self.timers:
            timer.cancel()
        await broker.aclose()
        return self._counted()

    async def _serve(self, turn: Turn) -> float:
        """Get what the turn needs; the stall is what the caller waits for the last of it."""
        live, started_s = self.live, self.clock.now()
        flights = []
        for need in turn.needs:
            if need.kind == "write":
                await live.broker.execute_write(
                    "write", self.jobs.spec(need), {}, idempotency_key="once", verified=live.identity
                )
                continue
            item = live.pool.by_id(name_of(need))
            if item is not None and item.fresh(started_s):
                live.pool.touch(item.id)
                self.played.stale += started_s - item.fetched_at_s >= self.world.shape.ttl_s
                self._use(item.id, item.fetched_at_s - item.latency_s)
                continue
            flight = live.broker.live(self.jobs.of(need))
            self._use(name_of(need), flight.work.started_at_s)
            flights.append(flight)
        self._order(live.turns)
        for flight in flights:
            await flight.wait()
        return self.clock.now() - started_s

    def _use(self, name: str, started_s: float) -> None:
        self.used.add(name)
        self.used_fetches.add((name, round(started_s, 6)))

    def _pass(self, n_turns: int) -> None:
        """A pass over the first turns of the call has ended; the turn after them may be known by now."""
        self.passed = n_turns
        self._order(self.live.turns)
        if self.ordered < n_turns:
            self._ask("turn", self.live.turns[:n_turns])

    def _order(self, turns: Sequence[Turn]) -> None:
        """Send out what the last pass has left for what the turn after it has now turned out to be."""
        if self.policy.stands and self.ordered < len(turns) == self.passed + 1:
            self.ordered = len(turns)
            self._ask("order", turns)

    def _ask(self, event: str, turns: Sequence[Turn]) -> None:
        """One decision of the policy, carried out by the broker."""
        live = self.live
        wishes = self.policy.wishes(event, live, turns)
        if self.policy.drops:
            wanted = {name_of(wish.need) for wish in wishes}
            for key, work in live.broker.in_flight(WHO).items():
                if work.state == "queued" and key.dep not in wanted and work.value_s < URGENT:
                    live.broker.withdraw(key, WHO)
        for wish in wishes:
            self._request(wish)

    def _overhear(self, turn: Turn) -> None:
        """Unfinished words have given the next question away."""
        for need in turn.needs:
            good_for_s = max(PARTIAL_LEAD_S, self.policy.refetch_share * self.world.shape.ttl_s)
            if need.kind == "question" and self.live.fresh_for_s(need) <= good_for_s:
                self._request(Wish(need, URGENT, 1.0))
        self._order([*self.live.turns, turn])  # after the question itself: pipes may be few

    def _request(self, wish: Wish) -> None:
        job = self.jobs.of(wish.need)
        self.live.broker.request(
            FetchJob(job.key, job.call, job.tenant, job.session, value_s=wish.value_s, p=wish.p, origin="forecast")
        )

    def _later(self, delay_s: float, act: object, *args: object) -> None:
        self.timers.append(asyncio.get_running_loop().call_later(delay_s, act, *args))  # type: ignore[arg-type]

    def _note(self, event: Event) -> None:
        if isinstance(event, FetchStarted):
            if event.background:
                self.background.append((event.dep, round(self.clock.now(), 6)))
            else:
                self.played.live += 1

    def _counted(self) -> Played:
        played = self.played
        played.fetches = len(self.background)
        played.unused = sum(fetch not in self.used_fetches for fetch in self.background)
        played.wasted = len(self.background) - len(self.used & {name for name, _ in self.background})
        return played


URGENT = 1e6
PARTIAL_LEAD_S = 1.2
PARTIAL_RECALL = 0.8


def _keep(pool: Pool, item: Item) -> None:
    pool.add(item, item.fetched_at_s)

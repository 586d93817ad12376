"""One fetch under way, and the handle by which a session takes part in it."""

import asyncio
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from cuecard.prefetch.types import Fetched, FetchJob, FetchKey, FetchResult, Item, Missing, Outcome


class SessionId(NamedTuple):
    tenant: str
    session: str


@dataclass(slots=True, eq=False)
class Work:
    """What happens at most once at a time for one key, however many sessions want it."""

    key: FetchKey
    backend: str
    state: Literal["queued", "running", "done"] = "queued"
    background: bool = True
    """False once a caller waits for it: then it neither queues nor counts against the budget."""
    long_shot: bool = False
    """Unlikely to be used when it was asked for: it may hold only a share of the pipes."""
    wanted: dict[SessionId, FetchJob] = field(default_factory=dict)
    landed: dict[SessionId, Fetched] = field(default_factory=dict)
    missing: Missing | None = None
    done: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    started_at_s: float = 0.0
    attempts: int = 1
    waiting: int = 0

    @property
    def first(self) -> FetchJob:
        return next(iter(self.wanted.values()))

    @property
    def value_s(self) -> float:
        return max((job.value_s for job in self.wanted.values()), default=0.0)


@dataclass(slots=True, frozen=True)
class Flight:
    """One session's part in a `Work`."""

    work: Work
    who: SessionId
    joined: bool = False
    """Somebody had asked before, and it was not over."""

    @property
    def state(self) -> Literal["queued", "running", "done"]:
        return self.work.state

    @property
    def outcome(self) -> Outcome | None:
        """What came of it so far: None while under way."""
        if self.work.state != "done":
            return None
        withdrawn = Missing(self.work.key.dep, "withdrawn")
        return self.work.landed.get(self.who) or self.work.missing or withdrawn

    async def wait(self) -> Outcome:
        """Until it has landed or failed. Cancelling the wait does not cancel the fetch; nothing is raised."""
        work = self.work
        work.waiting += 1
        try:
            await work.done.wait()
        finally:
            work.waiting -= 1
        outcome = self.outcome
        assert outcome is not None
        return outcome


def items_of(job: FetchJob, result: FetchResult, now_s: float, took_s: float) -> Fetched:
    """A result as the items of the session that asked: its scope, its reasons, its expiry."""
    spec = job.call.spec
    items = tuple(
        Item(
            id=record.id or f"{job.key.dep}:{job.key.args}" + (f"#{n}" if n else ""),
            dep=job.key.dep,
            text=record.text,
            data=dict(record.data),
            vector=record.vector,
            pieces=record.pieces,
            fetched_at_s=now_s,
            expires_at_s=now_s + spec.ttl_s,
            args=job.key.args,
            facts=job.facts,
            scope=spec.scope,
            tenant=job.tenant,
            session=job.session,
            for_action=job.for_action,
            for_offset=job.for_offset,
            asked_turn=job.asked_turn,
            p=job.p,
            origin=job.origin,
            epoch=job.key.epoch,
            latency_s=took_s,
            title=str(record.data.get("title") or ""),
        )
        for n, record in enumerate(result.records)
    )
    return Fetched(items, took_s)

"""A small world of declared dependencies, and a source that can be told to fail, hang or return junk."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cuecard.clock import LoopClock
from cuecard.events import Event
from cuecard.prefetch.fetchers.base import TransientFetchError
from cuecard.prefetch.flight import SessionId
from cuecard.prefetch.types import FetchCall, FetchJob, FetchKey, FetchResult, Item, Origin, Record, canonical, owner_of
from sops.models import Dependency

WHO = SessionId("acme", "s1")


def dependency(**changes: Any) -> Dependency:
    declared: dict[str, Any] = {
        "kind": "record",
        "effect": "read",
        "description": "for tests",
        "fetch": {"type": "table", "table": "rows"},
        "verified": False,
        "latency_s": 1.0,
        "timeout_s": 10.0,
        "ttl_s": 60.0,
    }
    return Dependency.model_validate(declared | changes)


def job(
    dep: str = "policy",
    spec: Dependency | None = None,
    args: Mapping[str, str] | None = None,
    *,
    who: SessionId = WHO,
    verified: bool = False,
    epoch: int = 0,
    value_s: float = 0.0,
    p: float = 1.0,
    origin: Origin = "forecast",
    facts: frozenset[str] = frozenset(),
) -> FetchJob:
    spec = spec or dependency()
    args = dict(args or {})
    key = FetchKey(owner_of(spec.scope, *who), dep, canonical(args), epoch)
    return FetchJob(
        key,
        FetchCall(dep, spec, args),
        who.tenant,
        who.session,
        verified=verified,
        value_s=value_s,
        p=p,
        origin=origin,
        facts=facts,
    )


@dataclass
class Source:
    """Answers after the declared latency; keeps count of what runs at once, per key."""

    clock: LoopClock = field(default_factory=LoopClock)
    behaviour: Callable[[FetchCall], str] = lambda call: "good"
    calls: list[FetchCall] = field(default_factory=list)
    running: Counter[str] = field(default_factory=Counter)
    most_at_once: int = 0
    most_per_key: int = 0
    called: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the first call has come."""

    async def fetch(self, call: FetchCall) -> FetchResult:
        self.calls.append(call)
        self.called.set()
        key = f"{call.dep}{canonical(call.args, call.query)}"
        self.running[key] += 1
        self.most_at_once = max(self.most_at_once, self.running.total())
        self.most_per_key = max(self.most_per_key, self.running[key])
        try:
            return await self._answer(call)
        finally:
            self.running[key] -= 1

    async def _answer(self, call: FetchCall) -> FetchResult:
        await self.clock.sleep(call.spec.latency_s)
        match self.behaviour(call):
            case "transient":
                raise TransientFetchError(call.dep, "try again")
            case "broken":
                raise KeyError("no such column")
            case "hangs":
                await asyncio.Event().wait()
            case "junk":
                return "not a result"  # type: ignore[return-value]
        return FetchResult((Record(f"{call.dep} {call.args}", {"n": len(self.calls)}),))


@dataclass
class Box:
    """A session's sink."""

    items: list[Item] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

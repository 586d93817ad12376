"""Runs fetches for the whole process: one at a time per key, joinable, limited, and never an exception for a caller.

A fetch belongs to the process and not to the supervisor pass that asked for it: passes are superseded all the time,
and a seven-second fetch must survive that. It ends early only when no session wants it any more.
"""

import asyncio
import contextvars
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from cuecard.clock import Clock
from cuecard.errors import FetchRefused
from cuecard.events import Event
from cuecard.prefetch.attempts import Attempts, Embed
from cuecard.prefetch.breaker import Breaker
from cuecard.prefetch.events import FetchEnded, FetchStarted
from cuecard.prefetch.fetchers.base import Fetchers, JunkError
from cuecard.prefetch.flight import Flight, SessionId, Work, items_of
from cuecard.prefetch.limits import LONG_SHOT, Account, Limits, backend_of
from cuecard.prefetch.safety import forbidden
from cuecard.prefetch.types import (
    FetchCall,
    FetchJob,
    FetchKey,
    FetchResult,
    Item,
    Missing,
    Outcome,
    Reason,
)
from cuecard.prefetch.writes import MemoryWriteLedger, WriteLedger, Writer
from sops.models import Dependency

CACHED = 512
"""Results of tenant or shared scope kept for other sessions until they expire."""


@dataclass(slots=True)
class Sink:
    """Where a session's results and events go."""

    on_item: Callable[[Item], None]
    emit: Callable[[Event], object] | None = None
    on_missing: Callable[[FetchJob, Missing], None] | None = None


@dataclass(slots=True)
class _Cached:
    result: FetchResult
    expires_at_s: float
    took_s: float


@dataclass(slots=True)
class _Books:
    """Who has spent what, and what runs where."""

    sessions: defaultdict[SessionId, Account] = field(default_factory=lambda: defaultdict(Account))
    tenants: defaultdict[str, Account] = field(default_factory=lambda: defaultdict(Account))
    running: Counter[str] = field(default_factory=Counter)
    long_shots: Counter[str] = field(default_factory=Counter)


class FetchBroker:
    """Process-owned single flight. `request` works ahead, `live` serves a waiting caller, `execute_write` writes."""

    def __init__(
        self,
        fetchers: Fetchers,
        clock: Clock,
        rng: random.Random,
        *,
        limits: Limits | None = None,
        ledger: WriteLedger | None = None,
        embed: Embed | None = None,
    ) -> None:
        self._clock = clock
        self._attempts = Attempts(fetchers, clock, rng, embed)
        self._limits = limits or Limits()
        self._works: dict[FetchKey, Work] = {}
        self._queues: dict[str, dict[FetchKey, Work]] = {}
        self._sinks: dict[SessionId, Sink] = {}
        self._breakers: defaultdict[str, Breaker] = defaultdict(Breaker)
        self._cache: dict[FetchKey, _Cached] = {}
        self._books = _Books()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writer = Writer(fetchers, clock, ledger or MemoryWriteLedger())

    # --- sessions -------------------------------------------------------------------------------------------------

    def open(self, who: SessionId, sink: Sink) -> None:
        """From now on results for this session go to `sink`; a session that takes over replaces the old sink."""
        self._sinks[who] = sink

    def close(self, who: SessionId) -> None:
        """The session is over: what only it wanted is withdrawn, even from under a turn that waits for it."""
        for work in [work for work in self._works.values() if who in work.wanted]:
            self._leave(work, who, even_if_awaited=True)
        self._sinks.pop(who, None)
        self._books.sessions.pop(who, None)

    def account(self, who: SessionId) -> Account:
        return self._books.sessions[who]

    def in_flight(self, who: SessionId) -> dict[FetchKey, Work]:
        """What is queued or running for this session."""
        return {key: work for key, work in self._works.items() if who in work.wanted}

    def forget_results(self) -> None:
        """Drop results kept for other sessions: a source has changed, or compared calls must not help each other."""
        self._cache.clear()

    # --- asking ---------------------------------------------------------------------------------------------------

    def request(self, job: FetchJob) -> Flight:
        """Fetch in the background, within limits and budget; joins what is under way for the same key."""
        return self._ask(job, background=True)

    def live(self, job: FetchJob) -> Flight:
        """Fetch for a caller who waits: joins what is under way, else starts at once, past every queue."""
        return self._ask(job, background=False)

    def withdraw(self, key: FetchKey, who: SessionId) -> bool:
        """This session no longer wants it; nothing stops while another does, or while somebody waits for it."""
        work = self._works.get(key)
        return work is not None and who in work.wanted and self._leave(work, who)

    def forget_facts(self, who: SessionId, facts: frozenset[str]) -> int:
        """Withdraw what was asked with facts that have since been corrected; returns how many."""
        stale = [work for work in self._works.values() if who in work.wanted and work.wanted[who].facts & facts]
        for work in stale:
            self._leave(work, who, even_if_awaited=True)
        return len(stale)

    async def execute_write(
        self, dep: str, spec: Dependency, args: dict[str, str], *, idempotency_key: str, verified: bool
    ) -> Outcome:
        """Change the world, once per idempotency key, in this process and after it; no retry, no time-out kills it."""
        return await self._writer.execute(FetchCall(dep, spec, args, idempotency_key=idempotency_key), verified)

    async def aclose(self) -> None:
        """Stop everything that reads, let writes finish."""
        for work in list(self._works.values()):
            for who in list(work.wanted):
                self._leave(work, who, even_if_awaited=True)
        if self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._writer.aclose()

    # --- inside ---------------------------------------------------------------------------------------------------

    def _ask(self, job: FetchJob, *, background: bool) -> Flight:
        who = SessionId(job.tenant, job.session)
        spec = job.call.spec
        if spec.effect == "write":
            return self._refused(job, who, "refused", "a write goes through execute_write")
        why = forbidden(spec, job.verified)
        if why:
            return self._refused(job, who, "refused", why)
        if background and who not in self._sinks:
            # A question embedded while the caller hung up: nobody is left to want what it brings.
            return self._refused(job, who, "closed", "the session is over")
        work = self._works.get(job.key)
        if work is not None:
            return self._join(work, job, who, background=background)
        now_s = self._clock.now()
        cached = self._cache.get(job.key)
        if cached is not None and now_s < cached.expires_at_s:
            return self._from_cache(cached, job, who)
        if background:
            spent = self._books.sessions[who]
            tenant = self._books.tenants[job.tenant]
            if self._limits.spent(spent) or self._limits.tenant_spent(tenant):
                return self._refused(job, who, "budget", "the budget of background fetches is spent")
        if not self._breakers[job.key.dep].allows(now_s):
            return self._refused(job, who, "breaker_open", "it failed too often; asked again later")
        long_shot = background and job.p < LONG_SHOT
        work = Work(job.key, backend_of(spec), background=background, long_shot=long_shot, wanted={who: job})
        self._works[job.key] = work
        if not background:
            self._books.sessions[who].live += 1
            self._start(work)
            return Flight(work, who)
        self._books.sessions[who].background += 1
        self._books.tenants[job.tenant].background += 1
        self._queues.setdefault(work.backend, {})[job.key] = work
        self._pump(work.backend)
        return Flight(work, who)

    def _join(self, work: Work, job: FetchJob, who: SessionId, *, background: bool) -> Flight:
        """Take part in what is under way. A waiting caller pulls it out of the queue and off the budget."""
        known = work.wanted.get(who)
        if known is None or work.state == "queued":
            work.wanted[who] = job
        if not background and work.state == "queued":
            del self._queues[work.backend][work.key]
            work.background = False
            self._books.sessions[who].live += 1
            self._refund(known or job)
            self._start(work)
        return Flight(work, who, joined=True)

    def _refund(self, job: FetchJob) -> None:
        self._books.sessions[SessionId(job.tenant, job.session)].background -= 1
        self._books.tenants[job.tenant].background -= 1

    def _refused(self, job: FetchJob, who: SessionId, reason: Reason, detail: str) -> Flight:
        work = Work(job.key, "", state="done", missing=Missing(job.key.dep, reason, detail))
        work.done.set()
        return Flight(work, who)

    def _from_cache(self, cached: _Cached, job: FetchJob, who: SessionId) -> Flight:
        work = Work(job.key, "", state="done")
        landed = items_of(job, cached.result, self._clock.now(), cached.took_s)
        for item in landed.items:
            item.expires_at_s = cached.expires_at_s
        work.landed[who] = landed
        work.done.set()
        self._deliver(who, landed.items)
        return Flight(work, who)

    def _pump(self, backend: str) -> None:
        """Start the most valuable of what is queued while there are pipes."""
        queue = self._queues.get(backend)
        while queue and self._books.running[backend] < self._limits.pipes(backend):
            crowded = self._books.long_shots[backend] >= self._limits.long_shots(backend)
            ready = [work for work in queue.values() if not (crowded and work.long_shot)]
            if not ready:
                return
            work = max(ready, key=lambda candidate: candidate.value_s)
            del queue[work.key]
            self._start(work)

    def _start(self, work: Work) -> None:
        work.state = "running"
        work.started_at_s = self._clock.now()
        if work.background:
            self._books.running[work.backend] += 1
            self._books.long_shots[work.backend] += work.long_shot
        for who, job in work.wanted.items():
            sink = self._sinks.get(who)
            if sink is not None and sink.emit is not None:
                sink.emit(
                    FetchStarted(
                        dep=job.key.dep,
                        key=job.key.args,
                        origin=job.origin,
                        background=work.background,
                        for_action=job.for_action,
                        for_offset=job.for_offset,
                        p_use=job.p,
                        value_s=job.value_s,
                        reason=job.reason,
                    )
                )
        # An empty context: nothing of a graph run (its stream, its callbacks) may leak into what outlives it.
        task = asyncio.get_running_loop().create_task(self._run(work), context=contextvars.Context())
        work.task = task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, work: Work) -> None:
        call = work.first.call
        breaker = self._breakers[call.dep]
        try:
            async with asyncio.timeout(call.spec.timeout_s):
                result = await self._attempts.fetch(call, work)
        except TimeoutError:
            breaker.failed(self._clock.now())
            self._end(work, Missing(call.dep, "timeout", f"no answer within {call.spec.timeout_s:g} s"))
        except asyncio.CancelledError:
            breaker.forgot()
            self._end(work, Missing(call.dep, "withdrawn"))
        except FetchRefused as error:
            breaker.succeeded()
            self._end(work, Missing(call.dep, "refused", str(error)))
        except JunkError as error:
            breaker.failed(self._clock.now())
            self._end(work, Missing(call.dep, "junk", str(error)))
        except Exception as error:  # noqa: BLE001 - a fetcher is foreign code; whatever it raises is an outcome here
            breaker.failed(self._clock.now())
            self._end(work, Missing(call.dep, "failed", f"{type(error).__name__}: {error}"))
        else:
            breaker.succeeded()
            self._land(work, result)

    def _land(self, work: Work, result: FetchResult) -> None:
        now_s = self._clock.now()
        took_s = now_s - work.started_at_s
        spec = work.first.call.spec
        if spec.scope != "session":
            while len(self._cache) >= CACHED:
                del self._cache[next(iter(self._cache))]
            self._cache[work.key] = _Cached(result, now_s + spec.ttl_s, took_s)
        for who, job in work.wanted.items():
            work.landed[who] = items_of(job, result, now_s, took_s)
        self._end(work, None)

    def _end(self, work: Work, missing: Missing | None) -> None:
        if work.state == "done":
            return
        if work.state == "running" and work.background:
            self._books.running[work.backend] -= 1
            self._books.long_shots[work.backend] -= work.long_shot
        work.state = "done"
        work.missing = missing
        if self._works.get(work.key) is work:
            del self._works[work.key]
        took_s = self._clock.now() - work.started_at_s
        for who, job in list(work.wanted.items()):
            self._tell(work, who, job, missing, took_s)
            landed = work.landed.get(who)
            if landed is not None:
                self._deliver(who, landed.items)
        work.done.set()
        if work.background:
            self._pump(work.backend)

    def _tell(self, work: Work, who: SessionId, job: FetchJob, missing: Missing | None, took_s: float) -> None:
        sink = self._sinks.get(who)
        if sink is None:
            return
        if missing is not None and sink.on_missing is not None:
            sink.on_missing(job, missing)
        if sink.emit is not None:
            landed = work.landed.get(who)
            sink.emit(
                FetchEnded(
                    dep=work.key.dep,
                    key=work.key.args,
                    how=missing.reason if missing else "landed",
                    took_s=took_s,
                    background=work.background,
                    n_items=len(landed.items) if landed else 0,
                    attempts=work.attempts,
                    detail=missing.detail if missing else "",
                )
            )

    def _deliver(self, who: SessionId, items: tuple[Item, ...]) -> None:
        sink = self._sinks.get(who)
        if sink is not None:
            for item in items:
                sink.on_item(item)

    def _leave(self, work: Work, who: SessionId, *, even_if_awaited: bool = False) -> bool:
        """One session less; with nobody left, the work ends. Returns whether it ended."""
        if work.waiting and len(work.wanted) == 1 and not even_if_awaited:
            return False
        job = work.wanted.pop(who)
        if work.wanted:
            return False
        if work.state == "queued":
            del self._queues[work.backend][work.key]
            self._refund(job)
            work.wanted[who] = job  # told once more, as withdrawn
            self._end(work, Missing(work.key.dep, "withdrawn"))
        elif work.task is not None:
            work.task.cancel()
            # Off the table at once: a new wish for this key may start while the cancelled task still unwinds.
            self._end(work, Missing(work.key.dep, "withdrawn"))
        return True

"""The precedents as the rest of Cuecard uses them: record and forget on one thread, read without waiting for it."""

import asyncio
import atexit
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from cuecard.clock import Clock, LoopClock
from cuecard.errors import StorageError
from cuecard.models.embeddings import Embedder
from cuecard.precedents.counts import StoredCounts
from cuecard.precedents.engine import open_engine
from cuecard.precedents.migrations import migrate
from cuecard.precedents.past import PastStep
from cuecard.precedents.reader import Reader
from cuecard.precedents.redact import Redactor
from cuecard.precedents.similar import Candidates, Situation
from cuecard.precedents.types import Precedent, Similar, Vector
from cuecard.precedents.writer import Moved, Writer
from cuecard.predictors.counts import HALF_LIFE_SESSIONS

T = TypeVar("T")

_log = logging.getLogger(__name__)

LINGER_S = 0.25
"""How long a finished turn may wait for company before it is written."""
BATCH = 256
"""Turns written in one transaction."""
PURGE_EVERY_S = 3600.0
MAX_WAITING = 20_000
"""Turns kept while the database cannot be reached; beyond it the oldest are let go, and the log says so."""


class _Outcome(NamedTuple):
    tenant: str
    session: str
    outcome: str


class Precedents:
    """Past turns of all tenants in one database. Make one with `open`, and `close` it: what waits is written then.

    `record` only queues; `flush` waits until it is on disk. Only the writer thread changes the database.
    """

    def __init__(
        self, writer: Writer, reader: Reader, clock: Clock, redactor: Redactor | None, keep_days: float | None
    ) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock
        self._redactor = redactor
        self._keep_s = None if keep_days is None else keep_days * 86_400.0
        self._purge_due_at = float("-inf")
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="precedents")
        self._waiting: deque[Precedent] = deque()
        self._outcomes: deque[_Outcome] = deque()
        self._flushing: asyncio.Task[None] | None = None
        self._sources: dict[str, StoredCounts] = {}
        self._carried_over: set[tuple[object, ...]] = set()
        # Ctrl-C may end the loop before anybody closes us.
        atexit.register(self._write_waiting)

    @classmethod
    async def open(
        cls,
        url_or_path: str | Path,
        *,
        clock: Clock | None = None,
        half_life_sessions: float = HALF_LIFE_SESSIONS,
        redactor: Redactor | None = None,
        keep_days: float | None = None,
        embedder: Embedder | None = None,
    ) -> "Precedents":
        """Open (and bring up to date) a SQLite file or `postgresql://...`; StorageError says what is wrong with it.

        With a redactor, words are cleaned before anything is kept; with an embedder, cleaned words get a vector of
        their own (without one, a turn whose words had to be changed cannot be found by them). `keep_days` is how long
        words and names are kept; None: until they are forgotten by hand.
        """

        def prepare() -> tuple[Writer, Reader]:
            engine = open_engine(url_or_path)
            migrate(engine)
            return Writer(engine, half_life_sessions, embedder), Reader(engine)

        loop = asyncio.get_running_loop()
        return cls(*await loop.run_in_executor(None, prepare), clock or LoopClock(), redactor, keep_days)

    async def record(self, turns: Sequence[Precedent]) -> None:
        """Queue finished turns, cleaned, and return; when very many wait (an import) they are written first."""
        self._waiting.extend(self._cleaned(turn) for turn in turns)
        if len(self._waiting) <= MAX_WAITING:
            self._flush_later()
            return
        try:
            await self.flush()
        except StorageError as error:
            n_lost = max(0, len(self._waiting) - MAX_WAITING)
            for _ in range(n_lost):
                self._waiting.popleft()
            _log.error("%s %d turns were let go.", error, n_lost)

    async def set_outcome(self, tenant: str, session: str, outcome: str) -> None:
        """Say how a call ended; written behind like the turns, which all show it then. Nothing for an unknown call."""
        self._outcomes.append(_Outcome(tenant, session, outcome))
        self._flush_later()

    async def flush(self) -> None:
        """Wait until everything recorded so far is stored."""
        # Until a batch finds nothing to do, not until nothing waits: the last turns may be on the thread just now.
        while await self._change(self._write_batch):
            pass

    def counts(self, tenant: str) -> StoredCounts:
        """The tenant's decayed counts, for the empirical predictor."""
        if tenant not in self._sources:
            self._sources[tenant] = StoredCounts(self._reader.engine, tenant, self._clock.now)
        return self._sources[tenant]

    async def similar(
        self,
        tenant: str,
        *,
        sop: str,
        vector: Vector,
        state: str = "",
        after: str = "",
        mood: str = "",
        cohort: str = "",
        k: int = 8,
    ) -> list[Similar]:
        """At most k past turns like this one, best first.

        `after` is the agent's last action, `vector` the embedding of what the caller now says.
        """
        found = await self.candidates(tenant, Situation(sop, state, after, mood, cohort))
        return found.nearest(vector, k)

    async def candidates(self, tenant: str, where: Situation) -> Candidates:
        """What `similar` chooses from: the same for all words in that situation."""
        return await self._read(self._reader.candidates, tenant, where)

    async def nearest_topics(self, tenant: str, sop: str, vectors: Sequence[Vector]) -> list[int]:
        """The topic of each question, 0 when nobody asked the like before."""
        return await self._read(self._reader.nearest_topics, tenant, sop, vectors)

    async def typical_questions(self, tenant: str, sop: str, topics: Sequence[int]) -> dict[int, str]:
        """For each topic, the sentence that speaks for it."""
        return await self._read(self._reader.typical_questions, tenant, sop, topics)

    async def past_calls(self, tenant: str, sop: str, limit: int = 400) -> list[list[PastStep]]:
        """The finished ones among that procedure's most recent calls, newest first, their turns in order."""
        return await self._read(self._reader.past_calls, tenant, sop, limit)

    async def forget_session(self, tenant: str, session: str) -> int:
        """Remove a call and what it taught. Returns how many turns it had."""
        await self.flush()
        return await self._change(self._writer.forget_session, tenant, session)

    async def forget_tenant(self, tenant: str) -> int:
        """Remove all that is stored of a tenant. Returns how many turns that was."""
        self._waiting = deque(turn for turn in self._waiting if turn.tenant != tenant)
        n_turns = await self._on_thread(self._writer.forget_tenant, tenant)
        self.counts(tenant).reset()
        return n_turns

    async def tenants_with(self, session: str) -> list[str]:
        """Tenants that have stored a call of that name."""
        return await self._read(self._reader.tenants_with, session)

    async def is_tenant(self, name: str) -> bool:
        """Whether anything is stored under that tenant."""
        return await self._read(self._reader.is_tenant, name)

    async def tenants(self) -> list[str]:
        """Tenants of which anything is stored."""
        return await self._read(self._reader.tenants)

    async def sessions_of(self, tenant: str) -> list[str]:
        """Names of a tenant's calls; those past their keep-by date have none."""
        return await self._read(self._reader.sessions_of, tenant)

    async def known_sessions(self, tenant: str, names: Sequence[str]) -> set[str]:
        """Which of these calls are stored already."""
        return await self._read(self._reader.known_sessions, tenant, names)

    async def purge(self, started_before: float) -> int:
        """Remove the words, vectors and names of calls that began before (Unix seconds). Returns how many calls."""
        return await self._on_thread(self._writer.purge, started_before)

    async def rename(self, tenant: str, sop: str, aliases: Mapping[str, str]) -> None:
        """Let a procedure's old names of actions and states (keys) count as the new ones. Slow the first time only."""
        await self.flush()
        if await self._on_thread(self._writer.rename, tenant, sop, aliases):
            self.counts(tenant).reset()

    async def carry_over(self, tenant: str, sop: str, aliases: Mapping[str, str]) -> None:
        """`rename`, once a process for the same aliases; a failure is logged and tried again with the next call."""
        told = (tenant, sop, *sorted(aliases.items()))
        if not aliases or told in self._carried_over:
            return
        self._carried_over.add(told)
        try:
            await self.rename(tenant, sop, aliases)
        except StorageError as error:
            self._carried_over.discard(told)
            _log.warning("%s Counts under old names of %s wait for the next call.", error, sop)

    async def recount(self, tenant: str, half_life_sessions: float | None = None) -> None:
        """Count a tenant's turns anew, with another half-life if given."""
        await self.flush()
        await self._on_thread(self._writer.recount, tenant, half_life_sessions)
        self.counts(tenant).reset()

    async def close(self) -> None:
        """Write what waits and let go of the database."""
        if self._flushing is not None and not self._flushing.done():
            self._flushing.cancel()
            await asyncio.wait([self._flushing])
        try:
            await self.flush()
        finally:
            atexit.unregister(self._write_waiting)
            self._thread.shutdown()
            self._reader.engine.dispose()

    def _cleaned(self, turn: Precedent) -> Precedent:
        # PostgreSQL cannot store NUL, and half a surrogate pair is no text.
        utterance, reply = _plain(turn.utterance), _plain(turn.reply)
        if self._redactor is not None:
            utterance = self._redactor.redact(utterance, turn.facts)
            reply = self._redactor.redact(reply, turn.facts)
        embedding = turn.embedding if utterance == turn.utterance else None
        return replace(turn, utterance=utterance, reply=reply, embedding=embedding, facts={})

    def _flush_later(self) -> None:
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.get_running_loop().create_task(self._flush_soon())

    async def _flush_soon(self) -> None:
        await asyncio.sleep(LINGER_S)
        try:
            await self.flush()
        except StorageError as error:
            # They stay queued; the next turn tries again.
            _log.warning("%s %d turns wait.", error, len(self._waiting))

    def _write_batch(self) -> tuple[bool, Moved]:
        """Whether there was anything to write, and what moved."""
        batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
        if not batch:
            return self._write_outcomes(), {}
        try:
            moved = self._writer.record(batch)
        except StorageError:
            self._waiting.extendleft(reversed(batch))
            raise
        newest_at = max(turn.at for turn in batch)
        if self._keep_s is not None and newest_at >= self._purge_due_at:
            # The turns bring the time with them: no timer to run, and an idle store has nothing new to let go.
            self._purge_due_at = newest_at + PURGE_EVERY_S
            self._writer.purge(newest_at - self._keep_s)
        return True, moved

    def _write_outcomes(self) -> bool:
        any_waits = bool(self._outcomes)
        while self._outcomes:
            self._writer.set_outcome(*self._outcomes[0])
            self._outcomes.popleft()
        return any_waits

    def _write_waiting(self) -> None:
        while self._write_batch()[0]:
            pass

    async def _change(self, change: Callable[..., tuple[T, Moved]], *args: object) -> T:
        """Run a change on the writer's thread, then drop what this process remembers of the counts that moved."""
        result, moved = await self._on_thread(change, *args)
        for tenant, keys in moved.items():
            if tenant in self._sources:
                self._sources[tenant].changed(keys)
        return result

    async def _on_thread(self, function: Callable[..., T], *args: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *args)

    async def _read(self, function: Callable[..., T], *args: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(None, function, *args)


def _plain(text: str) -> str:
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")

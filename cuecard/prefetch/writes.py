"""Writes: executed when the caller has confirmed, exactly once per idempotency key, or reported as in doubt.

A ledger notes the intention before the write leaves and the result after. A process that dies in between leaves an
intention without a result; whoever comes next must not guess, so it gets `in_doubt` and a person looks.
"""

import asyncio
import sqlite3
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from cuecard.clock import Clock
from cuecard.errors import FetchRefused, StorageError
from cuecard.prefetch.fetchers.base import Fetchers
from cuecard.prefetch.flight import items_of
from cuecard.prefetch.safety import forbidden
from cuecard.prefetch.types import (
    FetchCall,
    Fetched,
    FetchJob,
    FetchKey,
    FetchResult,
    Missing,
    Outcome,
    Record,
    canonical,
)


class Noted(NamedTuple):
    """What a ledger knows of a key that was claimed before: records when it went well, None when that is unknown."""

    records: list[dict[str, Any]] | None


class WriteLedger(ABC):
    """Remembers writes across restarts. `claim` must be atomic: of two processes, one gets None."""

    @abstractmethod
    async def claim(self, key: str, dep: str) -> Noted | None:
        """None: the key is yours, write. Otherwise what is known of the earlier write."""

    @abstractmethod
    async def settle(self, key: str, records: list[dict[str, Any]]) -> None:
        """The write went well and this came back."""

    @abstractmethod
    async def release(self, key: str) -> None:
        """The write certainly did not happen (it was refused before it left): the key is free again."""


class MemoryWriteLedger(WriteLedger):
    """For tests and single calls: forgets with the process."""

    def __init__(self) -> None:
        self._notes: dict[str, Noted] = {}

    async def claim(self, key: str, dep: str) -> Noted | None:
        if key in self._notes:
            return self._notes[key]
        self._notes[key] = Noted(None)
        return None

    async def settle(self, key: str, records: list[dict[str, Any]]) -> None:
        self._notes[key] = Noted(records)

    async def release(self, key: str) -> None:
        self._notes.pop(key, None)


class SqliteWriteLedger(WriteLedger):
    """One table in a SQLite file; every note is on disk before the write leaves."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def _connect(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self._path, timeout=5.0, isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE IF NOT EXISTS writes (key TEXT PRIMARY KEY, dep TEXT NOT NULL, records BLOB)")
        return connection

    def _claim(self, key: str, dep: str) -> Noted | None:
        connection = self._connect()
        try:
            if connection.execute("INSERT OR IGNORE INTO writes (key, dep) VALUES (?, ?)", (key, dep)).rowcount:
                return None
            (records,) = connection.execute("SELECT records FROM writes WHERE key = ?", (key,)).fetchone()
        finally:
            connection.close()
        return Noted(None if records is None else orjson.loads(records))

    def _run(self, sql: str, *values: object) -> None:
        connection = self._connect()
        try:
            connection.execute(sql, values)
        finally:
            connection.close()

    async def claim(self, key: str, dep: str) -> Noted | None:
        return await asyncio.to_thread(self._claim, key, dep)

    async def settle(self, key: str, records: list[dict[str, Any]]) -> None:
        await asyncio.to_thread(self._run, "UPDATE writes SET records = ? WHERE key = ?", orjson.dumps(records), key)

    async def release(self, key: str) -> None:
        await asyncio.to_thread(self._run, "DELETE FROM writes WHERE key = ? AND records IS NULL", key)


class PostgresWriteLedger(WriteLedger):
    """One table shared by all processes. Writes are rare and a connection is cheap beside what a write does."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._made = False

    async def _run(self, sql: str, *values: object) -> tuple[Any, ...] | None:
        import psycopg

        try:
            async with await psycopg.AsyncConnection.connect(self._url, autocommit=True) as connection:
                if not self._made:
                    # Two processes that make the table at once would collide in the catalogue.
                    async with connection.transaction():
                        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_TABLE_LOCK,))
                        await connection.execute(
                            "CREATE TABLE IF NOT EXISTS cuecard_writes"
                            " (key TEXT PRIMARY KEY, dep TEXT NOT NULL, records BYTEA)"
                        )
                    self._made = True
                # The note must be on disk before the write leaves, whatever the database does by default.
                await connection.execute("SET synchronous_commit = on")
                cursor = await connection.execute(sql.encode(), values)
                return await cursor.fetchone() if cursor.description else None
        except psycopg.OperationalError as error:
            raise StorageError(f"The write ledger cannot be reached: {error}. Check CUECARD_DATABASE_URL.") from error

    async def claim(self, key: str, dep: str) -> Noted | None:
        mine = "INSERT INTO cuecard_writes (key, dep) VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING key"
        if await self._run(mine, key, dep) is not None:
            return None
        row = await self._run("SELECT records FROM cuecard_writes WHERE key = %s", key)
        return Noted(None if row is None or row[0] is None else orjson.loads(row[0]))

    async def settle(self, key: str, records: list[dict[str, Any]]) -> None:
        await self._run("UPDATE cuecard_writes SET records = %s WHERE key = %s", orjson.dumps(records), key)

    async def release(self, key: str) -> None:
        await self._run("DELETE FROM cuecard_writes WHERE key = %s AND records IS NULL", key)


_TABLE_LOCK = 0x43555752
"""Advisory lock held while the table is made."""


class Writer:
    """Executes writes; a second caller of the same key waits for the first and gets the same answer."""

    def __init__(self, fetchers: Fetchers, clock: Clock, ledger: WriteLedger) -> None:
        self._fetchers = fetchers
        self._clock = clock
        self._ledger = ledger
        self._under_way: dict[str, asyncio.Task[Outcome]] = {}

    async def execute(self, call: FetchCall, verified: bool) -> Outcome:
        """The outcome of the one write under this key. Cancelling the caller does not stop a write that has left."""
        if call.spec.effect != "write":
            return Missing(call.dep, "refused", "it is declared a read; fetch it instead")
        if not call.idempotency_key:
            return Missing(call.dep, "refused", "a write needs an idempotency key")
        why = forbidden(call.spec, verified)
        if why:
            return Missing(call.dep, "refused", why)
        task = self._under_way.get(call.idempotency_key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._write(call))
            self._under_way[call.idempotency_key] = task
            task.add_done_callback(lambda _: self._under_way.pop(call.idempotency_key or "", None))
        return await asyncio.shield(task)

    async def aclose(self) -> None:
        """Let every write that has left come home."""
        if self._under_way:
            await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    async def _write(self, call: FetchCall) -> Outcome:
        key = call.idempotency_key
        assert key is not None
        noted = await self._ledger.claim(key, call.dep)
        if noted is not None:
            if noted.records is None:
                return Missing(call.dep, "in_doubt", "an earlier attempt left no result; it is not repeated")
            return self._fetched(call, noted.records, took_s=0.0)
        fetcher = self._fetchers.get(call.spec.fetch.type)
        if fetcher is None:
            await self._ledger.release(key)
            return Missing(call.dep, "refused", f"no fetcher for type {call.spec.fetch.type!r} is configured")
        started_s = self._clock.now()
        try:
            async with asyncio.timeout(call.spec.timeout_s):
                result = await fetcher.fetch(call)
        except FetchRefused as error:
            # A fetcher refuses before anything leaves it: a token that is not set, an argument that it lacks.
            await self._ledger.release(key)
            return Missing(call.dep, "refused", str(error))
        except TimeoutError:
            return Missing(call.dep, "in_doubt", f"no answer within {call.spec.timeout_s:g} s; it is not repeated")
        except Exception as error:  # noqa: BLE001 - foreign code; whether the write happened is unknown
            return Missing(call.dep, "in_doubt", f"{type(error).__name__}: {error}; it is not repeated")
        records = [{"text": record.text, "data": dict(record.data), "id": record.id} for record in result.records]
        await self._ledger.settle(key, records)
        return self._fetched(call, records, took_s=self._clock.now() - started_s)

    def _fetched(self, call: FetchCall, records: list[dict[str, Any]], took_s: float) -> Fetched:
        job = FetchJob(FetchKey("write", call.dep, canonical(call.args)), call, origin="live")
        result = FetchResult(tuple(Record(row["text"], row["data"], row["id"]) for row in records))
        return items_of(job, result, self._clock.now(), took_s)

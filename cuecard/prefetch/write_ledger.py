"""What remembers which writes were made, across restarts, and holds nothing of a caller longer than it must.

A write is known by a keyed hash of its idempotency key, which names a session and what was written. What came back is
kept beside it until the call is forgotten or past its keep-by date. Of a forgotten call the hash stays until then, so
that a late repeat of a request does not write a second time.
"""

import asyncio
import hmac
import secrets
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from cuecard.errors import StorageError

SECRET_BYTES = 32


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

    @abstractmethod
    async def forget(self, owner: str) -> int:
        """Keep of the writes whose keys begin with `owner` only that they were made. Returns how many had more."""

    @abstractmethod
    async def expire(self, before: float) -> int:
        """Remove all that is left of writes claimed before then (Unix seconds). Returns how many."""


class MemoryWriteLedger(WriteLedger):
    """For tests and single calls: forgets with the process."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._notes: dict[str, Noted] = {}
        self._claimed_at: dict[str, float] = {}
        self._now = now

    async def claim(self, key: str, dep: str) -> Noted | None:
        if key in self._notes:
            return self._notes[key]
        self._notes[key], self._claimed_at[key] = Noted(None), self._now()
        return None

    async def settle(self, key: str, records: list[dict[str, Any]]) -> None:
        self._notes[key] = Noted(records)

    async def release(self, key: str) -> None:
        self._notes.pop(key, None)

    async def forget(self, owner: str) -> int:
        known = [key for key, note in self._notes.items() if _owner_in(key) == owner and note.records is not None]
        self._notes |= dict.fromkeys(known, Noted(None))
        return len(known)

    async def expire(self, before: float) -> int:
        old = [key for key in self._notes if self._claimed_at[key] < before]
        for key in old:
            del self._notes[key]
        return len(old)


class SqliteWriteLedger(WriteLedger):
    """One table in a SQLite file; every note is on disk before the write leaves."""

    def __init__(self, path: Path, now: Callable[[], float] = time.time) -> None:
        self._path = path
        self._now = now
        self._secret = b""

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self._path, timeout=5.0, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA secure_delete=ON")
            if not self._secret:
                self._secret = self._prepare(connection)
            yield connection
        finally:
            connection.close()

    def _prepare(self, connection: sqlite3.Connection) -> bytes:
        """Make the tables, or bring those of an earlier version up to date, which held keys as they are."""
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE IF NOT EXISTS writes (key TEXT PRIMARY KEY, dep TEXT NOT NULL, records BLOB)")
        columns = {row[1] for row in connection.execute("PRAGMA table_info(writes)")}
        plain = [] if "owner" in columns else connection.execute("SELECT key FROM writes").fetchall()
        if "owner" not in columns:
            connection.execute("ALTER TABLE writes ADD COLUMN owner TEXT")
            connection.execute("ALTER TABLE writes ADD COLUMN at REAL")
        connection.execute("CREATE TABLE IF NOT EXISTS writes_secret (id INTEGER PRIMARY KEY, secret BLOB NOT NULL)")
        made = secrets.token_bytes(SECRET_BYTES)
        connection.execute("INSERT OR IGNORE INTO writes_secret VALUES (1, ?)", (made,))
        (secret,) = connection.execute("SELECT secret FROM writes_secret WHERE id = 1").fetchone()
        for (key,) in plain:
            hidden = (_hidden(secret, key), _hidden(secret, _owner_in(key)), self._now(), key)
            connection.execute("UPDATE writes SET key = ?, owner = ?, at = ? WHERE key = ?", hidden)
        connection.execute("COMMIT")
        return bytes(secret)

    def _claim(self, key: str, dep: str) -> Noted | None:
        with self._connected() as connection:
            hidden = _hidden(self._secret, key)
            row = (hidden, dep, _hidden(self._secret, _owner_in(key)), self._now())
            mine = "INSERT OR IGNORE INTO writes (key, dep, owner, at) VALUES (?, ?, ?, ?)"
            if connection.execute(mine, row).rowcount:
                return None
            (records,) = connection.execute("SELECT records FROM writes WHERE key = ?", (hidden,)).fetchone()
        return Noted(None if records is None else orjson.loads(records))

    def _settle(self, key: str, records: bytes) -> None:
        with self._connected() as connection:
            hidden = _hidden(self._secret, key)
            connection.execute("UPDATE writes SET records = ? WHERE key = ?", (records, hidden))

    def _release(self, key: str) -> None:
        with self._connected() as connection:
            hidden = _hidden(self._secret, key)
            connection.execute("DELETE FROM writes WHERE key = ? AND records IS NULL", (hidden,))

    def _forget(self, owner: str) -> int:
        if not self._path.exists():
            return 0
        with self._connected() as connection:
            hidden = _hidden(self._secret, owner)
            blank = "UPDATE writes SET records = NULL WHERE owner = ? AND records IS NOT NULL"
            return connection.execute(blank, (hidden,)).rowcount

    def _expire(self, before: float) -> int:
        if not self._path.exists():
            return 0
        with self._connected() as connection:
            return connection.execute("DELETE FROM writes WHERE at < ?", (before,)).rowcount

    async def claim(self, key: str, dep: str) -> Noted | None:
        return await asyncio.to_thread(self._claim, key, dep)

    async def settle(self, key: str, records: list[dict[str, Any]]) -> None:
        await asyncio.to_thread(self._settle, key, orjson.dumps(records))

    async def release(self, key: str) -> None:
        await asyncio.to_thread(self._release, key)

    async def forget(self, owner: str) -> int:
        return await asyncio.to_thread(self._forget, owner)

    async def expire(self, before: float) -> int:
        return await asyncio.to_thread(self._expire, before)


class PostgresWriteLedger(WriteLedger):
    """One table shared by all processes. Writes are rare and a connection is cheap beside what a write does."""

    def __init__(self, url: str, now: Callable[[], float] = time.time) -> None:
        self._url = url
        self._now = now
        self._secret = b""

    async def _run(self, sql: str, *values: object, hide: tuple[str, ...] = ()) -> "_Answer":
        """Run it with the hashes of `hide` before the other values."""
        import psycopg

        try:
            async with await psycopg.AsyncConnection.connect(self._url, autocommit=True) as connection:
                if not self._secret:
                    # Two processes that make the tables at once would collide in the catalogue.
                    async with connection.transaction():
                        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_TABLE_LOCK,))
                        self._secret = await self._prepare(connection)
                # The note must be on disk before the write leaves, whatever the database does by default.
                await connection.execute("SET synchronous_commit = on")
                hidden = tuple(_hidden(self._secret, one) for one in hide)
                cursor = await connection.execute(sql.encode(), (*hidden, *values))
                return _Answer(await cursor.fetchone() if cursor.description else None, cursor.rowcount)
        except psycopg.OperationalError as error:
            raise StorageError(f"The write ledger cannot be reached: {error}. Check CUECARD_DATABASE_URL.") from error

    async def _prepare(self, connection: Any) -> bytes:
        """Make the tables, or bring those of an earlier version up to date, which held keys as they are."""
        for sql in (
            "CREATE TABLE IF NOT EXISTS cuecard_writes (key TEXT PRIMARY KEY, dep TEXT NOT NULL, records BYTEA)",
            "ALTER TABLE cuecard_writes ADD COLUMN IF NOT EXISTS owner TEXT",
            "ALTER TABLE cuecard_writes ADD COLUMN IF NOT EXISTS at DOUBLE PRECISION",
            "CREATE TABLE IF NOT EXISTS cuecard_writes_secret (id INTEGER PRIMARY KEY, secret BYTEA NOT NULL)",
        ):
            await connection.execute(sql)
        made = secrets.token_bytes(SECRET_BYTES)
        await connection.execute("INSERT INTO cuecard_writes_secret VALUES (1, %s) ON CONFLICT DO NOTHING", (made,))
        (secret,) = await (await connection.execute("SELECT secret FROM cuecard_writes_secret WHERE id = 1")).fetchone()
        plain = await (await connection.execute("SELECT key FROM cuecard_writes WHERE owner IS NULL")).fetchall()
        for (key,) in plain:
            hidden = (_hidden(secret, key), _hidden(secret, _owner_in(key)), self._now(), key)
            await connection.execute("UPDATE cuecard_writes SET key = %s, owner = %s, at = %s WHERE key = %s", hidden)
        return bytes(secret)

    async def claim(self, key: str, dep: str) -> Noted | None:
        mine = (
            "INSERT INTO cuecard_writes (key, owner, dep, at) VALUES (%s, %s, %s, %s)"
            " ON CONFLICT DO NOTHING RETURNING key"
        )
        if (await self._run(mine, dep, self._now(), hide=(key, _owner_in(key)))).row is not None:
            return None
        row = (await self._run("SELECT records FROM cuecard_writes WHERE key = %s", hide=(key,))).row
        return Noted(None if row is None or row[0] is None else orjson.loads(row[0]))

    async def settle(self, key: str, records: list[dict[str, Any]]) -> None:
        noted = "UPDATE cuecard_writes SET records = n.r FROM (SELECT %s::text AS k, %s::bytea AS r) n WHERE key = n.k"
        await self._run(noted, orjson.dumps(records), hide=(key,))

    async def release(self, key: str) -> None:
        await self._run("DELETE FROM cuecard_writes WHERE key = %s AND records IS NULL", hide=(key,))

    async def forget(self, owner: str) -> int:
        blank = "UPDATE cuecard_writes SET records = NULL WHERE owner = %s AND records IS NOT NULL"
        return (await self._run(blank, hide=(owner,))).n_rows

    async def expire(self, before: float) -> int:
        return (await self._run("DELETE FROM cuecard_writes WHERE at < %s", before)).n_rows


class _Answer(NamedTuple):
    row: tuple[Any, ...] | None
    n_rows: int


_TABLE_LOCK = 0x43555752
"""Advisory lock held while the tables are made."""


def ledger_at(database_url: str | None, data_dir: Path) -> WriteLedger:
    """The ledger that outlives the process: in PostgreSQL where one is configured, else a file in the data folder."""
    return (
        PostgresWriteLedger(database_url) if database_url is not None else SqliteWriteLedger(data_dir / "writes.sqlite")
    )


def _owner_in(key: str) -> str:
    """Whose write a key names; no owner holds a colon (`owner_of`)."""
    return key.partition(":")[0]


def _hidden(secret: bytes, name: str) -> str:
    return hmac.digest(secret, name.encode(), "sha256").hex()

"""Which checkpoints and slices nobody has touched since a date, in SQLite files and in PostgreSQL."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from cuecard.errors import StorageError


class Outdated(NamedTuple):
    """What may go; empty for storage that ends with the process."""

    calls: tuple[str, ...] = ()
    """Threads of the responder."""
    passes: tuple[str, ...] = ()
    """Threads of the supervisor."""
    slices: tuple[tuple[str, str], ...] = ()
    """Prefix and key in the store."""


FindOutdated = Callable[[float], Awaitable[Outdated]]
"""Given a date (Unix seconds), what was last written before it."""

_EPOCH_S = 12_219_292_800
"""From the beginning of UUID time (1582) to that of Unix time."""


async def nothing(_before: float) -> Outdated:
    return Outdated()


def first_id(at: float) -> str:
    """The least id a checkpoint written then can have: they are UUIDs of version 6, which sort by time."""
    ticks = f"{int((at + _EPOCH_S) * 1e7):015x}"
    return f"{ticks[:8]}-{ticks[8:12]}-6{ticks[12:]}"


def in_files(folder: Path) -> FindOutdated:
    """In the SQLite files of a data folder, over connections of its own: no turn waits for these reads."""

    def find(before: float) -> Outdated:
        threads = "SELECT thread_id FROM checkpoints GROUP BY thread_id HAVING MAX(checkpoint_id) < ?"
        slices = "SELECT prefix, key FROM store WHERE prefix LIKE 'cuecard.%' AND updated_at < datetime(?, 'unixepoch')"
        return Outdated(
            tuple(row[0] for row in _rows(folder / "calls.sqlite", threads, first_id(before))),
            tuple(row[0] for row in _rows(folder / "passes.sqlite", threads, first_id(before))),
            tuple((prefix, key) for prefix, key in _rows(folder / "store.sqlite", slices, before)),
        )

    async def found(before: float) -> Outdated:
        return await asyncio.to_thread(find, before)

    return found


def _rows(path: Path, sql: str, value: object) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(path, timeout=5.0)) as connection:
        return connection.execute(sql, (value,)).fetchall()


def in_database(url: str) -> FindOutdated:
    """In PostgreSQL, where both graphs keep their threads in one table."""

    async def found(before: float) -> Outdated:
        import psycopg

        threads = 'SELECT thread_id FROM checkpoints GROUP BY thread_id HAVING MAX(checkpoint_id COLLATE "C") < %s'
        slices = "SELECT prefix, key FROM store WHERE prefix LIKE 'cuecard.%%' AND updated_at < to_timestamp(%s)"
        try:
            async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
                old = await (await connection.execute(threads, (first_id(before),))).fetchall()
                rows = await (await connection.execute(slices, (before,))).fetchall()
        except psycopg.OperationalError as error:
            raise StorageError(f"The database cannot be reached: {error}. Check CUECARD_DATABASE_URL.") from error
        return Outdated(tuple(row[0] for row in old), (), tuple((prefix, key) for prefix, key in rows))

    return found


def empty_journals(folder: Path, wait_s: float = 0.0) -> None:
    """Bring the write-ahead logs of a data folder into their files and empty them: they hold pages as they were.

    One that is still being read or written after `wait_s` is left for the next time: writers wait as long as this does.
    """
    for name in ("calls", "passes", "store", "writes"):
        path = folder / f"{name}.sqlite"
        if path.exists():
            with closing(sqlite3.connect(path, timeout=wait_s)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

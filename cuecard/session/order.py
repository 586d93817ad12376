"""Whose turn it is where several processes serve one session: one at a time, and never a dead process."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

from cuecard.errors import StorageError

TurnOrder = Callable[[str], AbstractAsyncContextManager[None]]
"""Given a session's thread: a context in which no other process takes a turn of it."""

_POLL_S = 0.01
_LONGEST_POLL_S = 0.1


@asynccontextmanager
async def alone(_thread: str) -> AsyncIterator[None]:
    """For storage that one process has to itself."""
    yield


class AdvisoryLocks:
    """Advisory locks of PostgreSQL, all on one connection of the process: when it dies, so do its locks, at once.

    A process's own turns do not exclude each other here (a connection may take a lock twice); sessions see to that.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: Any = None
        self._connecting = asyncio.Lock()
        self._releases: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator["AdvisoryLocks"]:
        """Connected; on leaving, everything still held is let go."""
        await self._connected()
        try:
            yield self
        finally:
            if self._releases:
                await asyncio.wait(self._releases)
            await self._connection.close()

    async def _connected(self) -> Any:
        async with self._connecting:
            if self._connection is None or self._connection.closed:
                import psycopg

                self._connection = await psycopg.AsyncConnection.connect(self._url, autocommit=True)
                self._connection.prepare_threshold = 0
            return self._connection

    @asynccontextmanager
    async def hold(self, thread: str) -> AsyncIterator[None]:
        """Wait for the session's turn. StorageError when the database cannot be reached."""
        number = int.from_bytes(hashlib.blake2b(thread.encode(), digest_size=8).digest(), signed=True)
        pause_s = _POLL_S
        try:
            while not await asyncio.shield(self._ask("SELECT pg_try_advisory_lock(%s)", number)):
                await asyncio.sleep(pause_s)
                pause_s = min(2.0 * pause_s, _LONGEST_POLL_S)
            yield
        finally:
            # Also after a cancelled wait, since the lock may have been granted meanwhile; letting go of one that we do
            # not have does nothing. Nobody who speaks waits for this.
            task = asyncio.get_running_loop().create_task(self._release(number))
            self._releases.add(task)
            task.add_done_callback(self._releases.discard)

    async def _release(self, number: int) -> None:
        # A lost connection has let go by itself.
        with suppress(StorageError):
            await self._ask("SELECT pg_advisory_unlock(%s)", number)

    async def _ask(self, sql: str, number: int) -> bool:
        import psycopg

        try:
            connection = await self._connected()
            cursor = await connection.execute(sql, (number,))
            row = await cursor.fetchone()
        except psycopg.OperationalError as error:
            raise StorageError(f"The database cannot be reached: {error}. Check CUECARD_DATABASE_URL.") from error
        return bool(row and row[0])

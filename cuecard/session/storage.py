"""Where checkpoints and the shared store live: in memory, in SQLite files, or in PostgreSQL."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from cuecard.errors import StorageError
from cuecard.session.memory import LatestOnlySaver
from cuecard.session.order import TurnOrder, alone
from cuecard.session.outdated import FindOutdated, in_files, nothing
from cuecard.settings import Settings


class Storage(NamedTuple):
    """One saver for each graph, so that a busy supervisor never makes the responder wait, and the store they share."""

    responder: BaseCheckpointSaver[str]
    supervisor: BaseCheckpointSaver[str]
    store: BaseStore
    turns: TurnOrder = alone
    outdated: FindOutdated = nothing


@asynccontextmanager
async def open_storage(settings: Settings, *, persist: bool) -> AsyncIterator[Storage]:
    """Opened, migrated and closed again; StorageError says what is wrong with the place."""
    async with AsyncExitStack() as stack:
        if not persist:
            from langgraph.store.memory import InMemoryStore

            yield Storage(LatestOnlySaver(), LatestOnlySaver(), InMemoryStore())
        elif settings.database_url:
            from cuecard.session.postgres import open_postgres

            yield await stack.enter_async_context(open_postgres(settings.database_url))
        else:
            yield await _sqlite(stack, settings.data_dir)


async def _sqlite(stack: AsyncExitStack, folder: Path) -> Storage:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.store.sqlite.aio import AsyncSqliteStore

    from cuecard.session.remembered import Remembering

    class Saver(Remembering, AsyncSqliteSaver):
        """Told apart from the one it extends by nothing but speed."""

    try:
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        responder = Saver(await _connect(stack, folder / "calls.sqlite"))
        supervisor = Saver(await _connect(stack, folder / "passes.sqlite"))
        await responder.setup()
        await supervisor.setup()
        connection = await _connect(stack, folder / "store.sqlite", isolation_level=None)
        store = await stack.enter_async_context(AsyncSqliteStore(connection))
        await store.setup()
    except (OSError, sqlite3.Error) as error:
        raise StorageError(
            f"The data folder {folder} cannot be used: {error}. Set CUECARD_DATA_DIR to a folder that can be written,"
            " and make sure that no other program holds its files locked."
        ) from error
    return Storage(responder, supervisor, store, outdated=in_files(folder))


async def _connect(stack: AsyncExitStack, path: Path, isolation_level: str | None = "") -> aiosqlite.Connection:
    """A connection of its own in WAL mode; NORMAL is durable enough for a call and ten times faster."""
    connection = await stack.enter_async_context(aiosqlite.connect(path, timeout=5.0, isolation_level=isolation_level))
    await connection.execute("PRAGMA journal_mode=WAL")
    await connection.execute("PRAGMA synchronous=NORMAL")
    # What is replaced or removed is overwritten, so that no caller's words stay in free pages.
    await connection.execute("PRAGMA secure_delete=ON")
    return connection

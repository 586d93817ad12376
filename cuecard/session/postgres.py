"""Checkpoints and store in PostgreSQL: one pool for each graph, migrations run once under a lock."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from cuecard.errors import StorageError
from cuecard.session.order import AdvisoryLocks
from cuecard.session.outdated import in_database

if TYPE_CHECKING:
    from cuecard.session.storage import Storage

_SETUP_LOCK = 0x43554543
"""Advisory lock held while tables are made, so that processes starting together do not race."""


@asynccontextmanager
async def open_postgres(url: str, pool_size: int = 10) -> "AsyncIterator[Storage]":
    """Pooled and migrated storage; StorageError when the database cannot be reached or psycopg is missing."""
    try:
        import psycopg
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from langgraph.store.postgres.aio import AsyncPostgresStore
        from psycopg.rows import dict_row
        from psycopg_pool import AsyncConnectionPool, PoolTimeout
    except ImportError as error:
        raise StorageError(
            "PostgreSQL needs psycopg and its langgraph savers: pip install 'cuecard[postgres]'."
        ) from error
    from cuecard.session.remembered import Remembering
    from cuecard.session.storage import Storage

    class Saver(Remembering, AsyncPostgresSaver):
        """Remembers a call's newest checkpoint while this process holds its order."""

    # A lost commit of the last milliseconds costs one repeated turn; waiting for the disk costs every turn 5 ms.
    options: dict[str, Any] = {
        "autocommit": True,
        "prepare_threshold": 0,
        "row_factory": dict_row,
        "options": "-c synchronous_commit=off",
    }
    try:
        # Before the pools: where there is no database, they would say so on their own, too, and try again for a while.
        lock = await psycopg.AsyncConnection.connect(url, autocommit=True)
        async with (
            lock,
            AsyncConnectionPool(url, min_size=1, max_size=pool_size, kwargs=options, open=False, timeout=10) as fast,
            AsyncConnectionPool(url, min_size=1, max_size=pool_size, kwargs=options, open=False, timeout=10) as slow,
        ):
            responder, supervisor = Saver(fast), AsyncPostgresSaver(slow)  # type: ignore[arg-type]
            responder.share_with_others()
            store = AsyncPostgresStore(slow)  # type: ignore[arg-type]
            await lock.execute("SELECT pg_advisory_lock(%s)", (_SETUP_LOCK,))
            await responder.setup()
            await store.setup()
            await lock.close()
            async with store, AdvisoryLocks(url).opened() as locks:

                @asynccontextmanager
                async def alone_with(thread: str) -> AsyncIterator[None]:
                    async with locks.hold(thread):
                        with responder.alone_with(thread):
                            yield

                yield Storage(responder, supervisor, store, alone_with, in_database(url))
    except (psycopg.OperationalError, psycopg.ProgrammingError, PoolTimeout) as error:
        told = " ".join(str(error).split()).rstrip(".")
        raise StorageError(f"The database cannot be reached: {told}. Check CUECARD_DATABASE_URL.") from error

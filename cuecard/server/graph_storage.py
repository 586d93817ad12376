"""Checkpoints and store of the graph server: the same as everywhere else, so that both survive a restart."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from cuecard.services import Services
from cuecard.session.retention import retained
from cuecard.session.storage import open_storage
from cuecard.settings import get_settings


@asynccontextmanager
async def checkpointer() -> AsyncIterator[BaseCheckpointSaver[str]]:
    """SQLite files in the data folder, or PostgreSQL where CUECARD_DATABASE_URL says so; swept like everywhere else."""
    # Services of its own: the server may run its graphs, and with them the process's services, on another loop.
    services = Services(get_settings())
    async with open_storage(services.settings, persist=True) as storage, retained(services, storage):
        yield storage.responder


@asynccontextmanager
async def store() -> AsyncIterator[BaseStore]:
    """The store that both graphs share."""
    async with open_storage(get_settings(), persist=True) as storage:
        yield storage.store

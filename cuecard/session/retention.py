"""One keep-by date for everything that is stored of a call: what is older goes, in the background and bit by bit."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial

from cuecard.log_files import remove_logs_before
from cuecard.prefetch.write_ledger import ledger_at
from cuecard.services import Services
from cuecard.session.outdated import empty_journals
from cuecard.session.storage import Storage

log = logging.getLogger(__name__)

EVERY_S = 6 * 3600.0
PAUSE_S = 0.01
"""Between two removals: whoever wants the storage for a turn comes in between."""


class Retention:
    """Removes what nobody has touched for `retention_days`. Nothing here runs on a turn, or while one is under way."""

    def __init__(self, services: Services, storage: Storage) -> None:
        self._services = services
        self._settings = services.settings
        self._storage = storage

    async def keep(self) -> None:
        """Sweep now and then, for as long as the process lives."""
        while True:
            await self.sweep(time.time() - self._settings.retention_days * 86_400.0)
            await asyncio.sleep(EVERY_S)

    async def sweep(self, before: float) -> None:
        """Remove what was last written before then (Unix seconds). What fails is logged, and left for the next time."""
        for part in (self._checkpoints_and_slices, self._logs, self._writes, self._precedents):
            await self._services.traffic.quiet()
            try:
                await part(before)
            except Exception as error:  # noqa: BLE001 - a database that is away now may be back the next time
                log.warning("%s could not be cleared of old calls: %s", part.__name__.strip("_"), error)

    async def _checkpoints_and_slices(self, before: float) -> None:
        storage = self._storage
        old = await storage.outdated(before)
        for thread in old.calls:
            await self._between_turns(partial(storage.responder.adelete_thread, thread))
        for thread in old.passes:
            await self._between_turns(partial(storage.supervisor.adelete_thread, thread))
        for prefix, key in old.slices:
            await self._between_turns(partial(storage.store.adelete, tuple(prefix.split(".")), key))
        if any(old):
            await asyncio.to_thread(empty_journals, self._settings.data_dir)

    async def _between_turns(self, remove: Callable[[], Awaitable[None]]) -> None:
        await self._services.traffic.quiet()
        await remove()
        await asyncio.sleep(PAUSE_S)

    async def _logs(self, before: float) -> None:
        await asyncio.to_thread(remove_logs_before, self._settings.data_dir, before)

    async def _writes(self, before: float) -> None:
        ledger = ledger_at(self._settings.database_url, self._settings.data_dir)
        if await ledger.expire(before):
            await asyncio.to_thread(empty_journals, self._settings.data_dir)

    async def _precedents(self, before: float) -> None:
        if self._services.precedents is not None:
            await self._services.precedents.purge(before)


@asynccontextmanager
async def retained(services: Services, storage: Storage) -> AsyncIterator[None]:
    """While open, what is past its date goes. For processes that keep something, and on real time."""
    if not (services.persist and services.real_time):
        yield
        return
    task = asyncio.get_running_loop().create_task(Retention(services, storage).keep())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

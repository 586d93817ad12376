"""Takes a call out of everything that is not a precedent: checkpoints, blackboard, event log and write ledger."""

import asyncio
from collections.abc import Iterable
from urllib.parse import unquote

from cuecard.blackboard import namespace
from cuecard.log_files import log_file, log_files, remove_if_empty
from cuecard.prefetch.types import owner_of
from cuecard.prefetch.write_ledger import ledger_at
from cuecard.session.storage import Storage
from cuecard.settings import Settings
from nodes.trigger import responder_thread, supervisor_thread


async def traces(settings: Settings, storage: Storage) -> set[tuple[str, str]]:
    """(tenant, session) of every call that left a blackboard or a log."""
    found = await asyncio.to_thread(_logged, settings)
    offset = 0
    while batch := await storage.store.alist_namespaces(prefix=("cuecard",), limit=1000, offset=offset):
        found.update((unquote(path[1]), unquote(path[2])) for path in batch if len(path) > 2)
        offset += len(batch)
    return found


async def with_checkpoints(tenants: Iterable[str], session: str, storage: Storage) -> set[str]:
    """Which of these tenants have a call of that name that left checkpoints: they do not say whose they are."""
    found = set()
    for tenant in tenants:
        config = {"configurable": {"thread_id": responder_thread(tenant, session)}}
        if await storage.responder.aget_tuple(config) is not None:  # type: ignore[arg-type]
            found.add(tenant)
    return found


async def forget_traces(tenant: str, sessions: Iterable[str], settings: Settings, storage: Storage) -> None:
    """Remove them; nothing happens for a call that left none. Of its writes only that they were made stays."""
    ledger = ledger_at(settings.database_url, settings.data_dir)
    for session in sessions:
        await storage.responder.adelete_thread(responder_thread(tenant, session))
        await storage.supervisor.adelete_thread(supervisor_thread(tenant, session))
        place = namespace(tenant, session)
        for item in await storage.store.asearch(place, limit=1000):
            await storage.store.adelete(item.namespace, item.key)
        await ledger.forget(owner_of("session", tenant, session))
        path = log_file(settings.data_dir, tenant, session)
        path.unlink(missing_ok=True)
        remove_if_empty(path.parent)


def _logged(settings: Settings) -> set[tuple[str, str]]:
    folders = (settings.data_dir / "events").glob("*")
    return {(one.tenant, one.session) for folder in folders for one in log_files(folder)}

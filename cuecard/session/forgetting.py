"""Takes a call out of everything that is not a precedent: its checkpoints, its blackboard and its event log."""

import asyncio
from urllib.parse import unquote

from cuecard.blackboard import namespace
from cuecard.log_files import log_file, log_files
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


async def forget_traces(tenant: str, session: str, settings: Settings, storage: Storage) -> None:
    """Remove them; nothing happens for a call that left none."""
    await storage.responder.adelete_thread(responder_thread(tenant, session))
    await storage.supervisor.adelete_thread(supervisor_thread(tenant, session))
    place = namespace(tenant, session)
    for item in await storage.store.asearch(place, limit=1000):
        await storage.store.adelete(item.namespace, item.key)
    log_file(settings.data_dir, tenant, session).unlink(missing_ok=True)


def _logged(settings: Settings) -> set[tuple[str, str]]:
    folders = (settings.data_dir / "events").glob("*")
    return {(one.tenant, one.session) for folder in folders for one in log_files(folder)}

"""One engine a process: both graphs compiled over shared services and storage."""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakSet

from cuecard.context import Context
from cuecard.planning import Planner
from cuecard.services import Services
from cuecard.session.retention import retained
from cuecard.session.session import Session
from cuecard.session.storage import Storage, open_storage
from cuecard.settings import Settings, get_settings
from graphs import responder, supervisor
from nodes.trigger import LocalTrigger


class Engine:
    """Holds calls. Make it with `open`; sessions of one engine share models, precedents and fetches in flight."""

    def __init__(self, services: Services, storage: Storage) -> None:
        self.services = services
        self.store = storage.store
        self._turns = storage.turns
        self._sessions: WeakSet[Session] = WeakSet()
        slow = supervisor.build(services).compile(
            checkpointer=storage.supervisor, store=storage.store, name="supervisor"
        )
        self.trigger = LocalTrigger(slow, services)
        services.trigger = self.trigger
        self.responder = responder.build(services).compile(
            checkpointer=storage.responder, store=storage.store, name="responder"
        )

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        settings: Settings | None = None,
        *,
        persist: bool = True,
        seed: int = 0,
        services: Services | None = None,
    ) -> "AsyncIterator[Engine]":
        """Load models and open storage; on leaving, turns are left, passes cancelled, writes finished and logs flushed.

        `services` brings those the process has already, with their settings and boards.
        """
        if services is None:
            services = Services(settings or get_settings(), persist=persist, seed=seed)
        settings, persist = services.settings, services.persist
        async with open_storage(settings, persist=persist) as storage:
            await services.start()
            engine = cls(services, storage)
            try:
                async with retained(services, storage):
                    yield engine
            finally:
                for session in list(engine._sessions):
                    await session.leave()
                await engine.trigger.aclose()
                await services.aclose()

    async def session(
        self,
        procedure: str,
        *,
        session_id: str | None = None,
        context: Context | None = None,
        planner: Planner | None = None,
    ) -> Session:
        """A call by this name, taken up where it was left, with its own procedure; a new name starts one.

        `planner` replaces the scheduler, for comparisons.
        """
        name = session_id or uuid.uuid4().hex[:12]
        chosen = (context or Context()).model_copy(update={"procedure": procedure, "session_id": name})
        board = await self.services.board(name, chosen, self.store, planner=planner, held=True)
        chosen = chosen.model_copy(update={"procedure": board.context.procedure})
        session = Session(self.services, self.trigger, self.responder, board, chosen, self._turns)
        self._sessions.add(session)
        return session

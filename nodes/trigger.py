"""How a supervisor pass is started without anybody waiting for it: in this process, or as a run of the graph server."""

import asyncio
import contextvars
import logging
import uuid
from typing import Any, Protocol

from langgraph.runtime import Runtime

from cuecard.context import Context
from cuecard.events import PassEnded
from cuecard.services import Services
from nodes.state import SupervisorInput

log = logging.getLogger(__name__)

_SPACE = uuid.UUID("6f4f2f0e-7c2e-5d3b-9a51-2f5c0c1d8e77")


def supervisor_thread(tenant: str, session_id: str) -> str:
    """The supervisor's own thread: the same on every process, and a UUID because graph servers insist on one."""
    return str(uuid.uuid5(_SPACE, f"pass/{tenant}/{session_id}"))


def responder_thread(tenant: str, session_id: str) -> str:
    """The call's own thread; two tenants may use one session name and share nothing."""
    return str(uuid.uuid5(_SPACE, f"call/{tenant}/{session_id}"))


class Trigger(Protocol):
    """Starts a pass; the newest one of a session wins. Returns at once and never raises for what the pass does."""

    def submit(self, payload: SupervisorInput, context: Context) -> None: ...


class ServerTrigger:
    """On a graph server: a run of the supervisor assistant. `interrupt` supersedes; rollback breaks custom savers."""

    def __init__(self) -> None:
        self._client: Any = None
        self._tasks: set[asyncio.Task[None]] = set()

    def submit(self, payload: SupervisorInput, context: Context) -> None:
        loop = asyncio.get_running_loop()
        task = loop.create_task(self._create(payload, context), context=contextvars.Context())
        self._tasks.add(task)
        task.add_done_callback(self._reap)

    async def _create(self, payload: SupervisorInput, context: Context) -> None:
        from langgraph_sdk import get_client

        # No address: the server's own loopback, which needs no socket and passes its auth.
        self._client = self._client or get_client()
        await self._client.runs.create(
            supervisor_thread(payload["tenant"], payload["session_id"]),
            "supervisor",
            input=payload,
            context=context.model_dump() | {"session_id": payload["session_id"]},
            multitask_strategy="interrupt",
            if_not_exists="create",
            durability="exit",
        )

    def _reap(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("supervisor pass could not be started: %s: %s", type(error).__name__, error)


class LocalTrigger:
    """In this process: one task a session. A newer pass cancels the older and starts when it has unwound."""

    def __init__(self, graph: Any, services: Services) -> None:
        self._graph = graph
        self._services = services
        self._passes: dict[str, list[asyncio.Task[None]]] = {}
        """Of each session those that have not unwound, oldest first."""

    def submit(self, payload: SupervisorInput, context: Context) -> None:
        thread = supervisor_thread(payload["tenant"], payload["session_id"])
        older = [*self._passes.get(thread, ())]
        for task in older:
            _cancel_once(task)
        # An empty context: the pass's tokens must not appear in the responder's stream.
        task = asyncio.get_running_loop().create_task(
            self._run(thread, payload, context, older), context=contextvars.Context()
        )
        self._passes.setdefault(thread, []).append(task)
        task.add_done_callback(lambda done: self._reap(thread, done))

    async def _run(
        self, thread: str, payload: SupervisorInput, context: Context, older: list[asyncio.Task[None]]
    ) -> None:
        if older:
            # Two writers at once would race. All of them are waited for: one that is cancelled while it waits for its
            # own elder is gone before that elder is.
            await asyncio.wait(older)
        board = self._services.known_board(payload["tenant"], payload["session_id"])
        began_s = self._services.clock.now()
        try:
            await self._services.traffic.quiet()
            await self._graph.ainvoke(
                payload,
                {"configurable": {"thread_id": thread}},
                context=context.model_copy(update={"session_id": payload["session_id"]}),
                durability="exit",
            )
        except asyncio.CancelledError:
            if board is not None:
                took_s = self._services.clock.now() - began_s
                board.log.emit(PassEnded(for_turn=payload["turn"], how="superseded", took_s=took_s))
            raise

    def _reap(self, thread: str, task: asyncio.Task[None]) -> None:
        self._passes[thread].remove(task)
        if not self._passes[thread]:
            del self._passes[thread]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("supervisor pass failed: %s", type(error).__name__, exc_info=error)

    async def settle(self, tenant: str, session_id: str) -> None:
        """Wait for this session's pass, if one is running: for tests, and before a process goes."""
        tasks = [*self._passes.get(supervisor_thread(tenant, session_id), ())]
        if tasks:
            await asyncio.wait(tasks)

    async def aclose(self) -> None:
        """Cancel all passes and wait until they have unwound."""
        tasks = [task for tasks in self._passes.values() for task in tasks]
        for task in tasks:
            _cancel_once(task)
        if tasks:
            await asyncio.wait(tasks)


def _cancel_once(task: asyncio.Task[None]) -> None:
    """A second cancellation would cut short the unwinding that the first began."""
    if not task.cancelling():
        task.cancel()


_SERVER = ServerTrigger()


def trigger_of(runtime: Runtime[Context], services: Services) -> Trigger:
    """The server's queue inside a graph server, else the trigger that the session's engine brought along."""
    if runtime.server_info is not None or services.trigger is None:
        return _SERVER
    return services.trigger  # type: ignore[no-any-return]

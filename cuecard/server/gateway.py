"""What the routes share: the engine, opened when first needed, and the calls of all tenants in this process."""

import asyncio
import logging
import time
from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import anyio.lowlevel

from cuecard.blackboard import procedure_of
from cuecard.context import Context
from cuecard.prefetch.flight import SessionId
from cuecard.server.calls import ENDED_IDLE_S, Call
from cuecard.server.errors import ApiError
from cuecard.server.keys import load_keys
from cuecard.server.metrics import Metrics
from cuecard.server.webhooks import Webhooks
from cuecard.services import Services
from cuecard.session import Engine
from cuecard.settings import Settings
from cuecard.telemetry import Telemetry
from sops import load_procedure
from sops.loader import names

log = logging.getLogger(__name__)

REAP_EVERY_S = 15.0


class Gateway:
    """One a process. `procedures` maps model names to procedure files; the shipped ones are always there."""

    def __init__(
        self,
        settings: Settings,
        *,
        procedures: Mapping[str, str] | None = None,
        persist: bool = True,
        services: Services | None = None,
    ) -> None:
        self.settings = settings
        self.keys = load_keys(settings)
        self.procedures = {name: name for name in names()} | dict(procedures or {})
        self.metrics = Metrics(lambda: len(self.calls))
        self.webhooks = Webhooks(settings)
        self.telemetry = Telemetry(settings)
        self.calls: dict[SessionId, Call] = {}
        self._services = services or Services(settings, persist=persist)
        self._stack = AsyncExitStack()
        self._engine: Engine | None = None
        self._opening = asyncio.Lock()
        self._making: dict[SessionId, asyncio.Task[Call]] = {}
        self._ending: dict[SessionId, asyncio.Task[None]] = {}
        self._reaper: asyncio.Task[None] | None = None

    @property
    def ready(self) -> bool:
        return self._engine is not None

    async def engine(self) -> Engine:
        """Loads models and opens storage the first time; the loop that does so is the gateway's for good."""
        if self._engine is None:
            async with self._opening:
                if self._engine is None:
                    self._engine = await self._open()
        return self._engine

    async def _open(self) -> Engine:
        services = self._services
        services.watchers += [self.metrics.watch, self.webhooks.watch, self.telemetry.watch]
        engine = await self._stack.enter_async_context(Engine.open(services=services))
        await self.webhooks.start()
        self.telemetry.start()
        self._reaper = asyncio.get_running_loop().create_task(self._reap())
        # The HTTP client's back end is imported when first used: better now than on somebody's first turn.
        await anyio.lowlevel.checkpoint()
        return engine

    async def aclose(self) -> None:
        """Hang nothing up: calls can be taken up elsewhere. Logs, precedents and writes are finished."""
        if self._reaper is not None:
            self._reaper.cancel()
            with suppress(asyncio.CancelledError):
                await self._reaper
        for call in list(self.calls.values()):
            if call.live is not None:
                call.live.leave()
                await call.live.over(1.0)
        await self._stack.aclose()
        await self.webhooks.aclose()
        await asyncio.to_thread(self.telemetry.close)
        self.calls.clear()

    # --- calls ----------------------------------------------------------------------------------------------------

    async def call(self, tenant: str, session_id: str, model: str) -> Call:
        """This tenant's call of that name, taken up or begun. ApiError for an unknown model or one that differs."""
        if model not in self.procedures:
            known = ", ".join(sorted(self.procedures))
            message = f"The model {model!r} does not exist: models are procedures, and there are {known}."
            raise ApiError(404, message, code="model_not_found", param="model")
        who = _who(tenant, session_id)
        await self._ended(who)
        call = self.calls.get(who)
        if call is None:
            call = await self._made(who, model)
        begun_with = call.session.context.procedure
        if begun_with != self.procedures[model]:
            raise ApiError(409, f"The session {session_id!r} runs {begun_with}, not {model}.", param="model")
        call.touched_at = time.monotonic()
        return call

    async def known_call(self, tenant: str, session_id: str) -> Call:
        """This tenant's call of that name, from here or from another process; ApiError 404 when there is none."""
        who = _who(tenant, session_id)
        await self._ended(who)
        if who in self.calls:
            return self.calls[who]
        engine = await self.engine()
        procedure = await procedure_of(tenant, session_id, engine.store)
        model = next((name for name, path in self.procedures.items() if path == procedure), None)
        if model is None:
            raise ApiError(404, f"There is no session {session_id!r}.", code="session_not_found")
        return await self._made(who, model)

    async def _made(self, who: SessionId, model: str) -> Call:
        """Begun once, however many requests come at the same time; a client that leaves does not stop it."""
        task = self._making.get(who)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._make(who, self.procedures[model]))
            self._making[who] = task
            task.add_done_callback(lambda _: self._making.pop(who, None))
        return await asyncio.shield(task)

    async def _make(self, who: SessionId, procedure: str) -> Call:
        engine = await self.engine()
        session = await engine.session(procedure, session_id=who.session, context=Context(tenant=who.tenant))
        self.calls[who] = Call(session)
        return self.calls[who]

    async def hang_up(self, tenant: str, session_id: str, outcome: str = "") -> None:
        call = await self.known_call(tenant, session_id)
        await self._end(_who(tenant, session_id), call.hang_up(outcome))

    async def _end(self, who: SessionId, ending: Coroutine[object, object, None]) -> None:
        """Whoever calls meanwhile waits: what is being closed must take no more turns. Goes on if the client leaves."""
        task = asyncio.get_running_loop().create_task(self._closed(who, ending))
        self._ending[who] = task
        task.add_done_callback(lambda _: self._ending.pop(who, None))
        await asyncio.shield(task)

    async def _closed(self, who: SessionId, ending: Coroutine[object, object, None]) -> None:
        await ending
        self.calls.pop(who, None)

    async def _ended(self, who: SessionId) -> None:
        """Wait until the call of that name, if it is being hung up, is closed."""
        if who in self._ending:
            await asyncio.wait([self._ending[who]])

    async def _reap(self) -> None:
        """Let go of calls that ended a while ago, and hang up those that everybody has forgotten."""
        while True:
            await asyncio.sleep(REAP_EVERY_S)
            now = time.monotonic()
            for who, call in list(self.calls.items()):
                kept_s = ENDED_IDLE_S if call.session.board.desk.ended else self.settings.session_idle_s
                if not call.speaking and now - call.touched_at > kept_s:
                    try:
                        await self._end(who, self._let_go(call))
                    except Exception as error:
                        # One call's trouble must not keep all the others for ever.
                        log.error("a forgotten call could not be hung up: %s", type(error).__name__, exc_info=error)

    async def _let_go(self, call: Call) -> None:
        """Hang up, unless another process has taken turns since this one did: then it is that one's call."""
        ours = call.session.board.committed
        await call.session.refresh()
        if call.session.board.committed == ours:
            await call.hang_up()
        else:
            await call.session.let_go()

    def log_path(self, tenant: str, session_id: str) -> Path | None:
        return self._services.log_path(tenant, session_id)

    async def preload(self, models: list[str]) -> None:
        """Have these procedures ready before the first call."""
        engine = await self.engine()
        for model in models:
            await asyncio.to_thread(load_procedure, self.procedures[model])
            await engine.services.kit(self.procedures[model])


def _who(tenant: str, session_id: str) -> SessionId:
    if not 0 < len(session_id) <= 128:
        raise ApiError(400, "A session's name has 1 to 128 characters.", param="session_id")
    return SessionId(tenant, session_id)

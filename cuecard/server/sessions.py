"""`/v1/sessions`: hear unfinished words, look into a call, follow it live, hang up."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath
from pydantic import BaseModel, Field
from starlette.responses import Response

from cuecard.events import Event
from cuecard.log_files import log_files
from cuecard.prefetch.flight import SessionId
from cuecard.server import views
from cuecard.server.calls import Call
from cuecard.server.errors import ApiError, json_response
from cuecard.server.gateway import Gateway
from cuecard.server.speech import EventStream

KEEP_ALIVE_S = 15.0
MAX_BEHIND = 2000
"""Events a slow follower may be behind before it is let go."""
LISTED = 100

Name = Annotated[str, InPath(description="The session's name.", max_length=128)]


class Partial(BaseModel):
    text: str = Field(max_length=20_000, description="The caller's words so far, from the beginning of the utterance.")
    model: str | None = Field(default=None, description="Procedure to begin the session with, if it is new.")


class HangUp(BaseModel):
    outcome: str = Field(default="", max_length=64, description="How it ended, if you know better.")


def routes(gateway: Gateway) -> APIRouter:
    router = APIRouter(prefix="/v1/sessions", tags=["Sessions"])

    async def current(request: Request, name: str) -> Call:
        call = await gateway.known_call(request.state.tenant, name)
        if not call.speaking:
            await call.session.refresh()
        return call

    @router.get("", summary="Calls that are open here, and logged ones")
    async def sessions(request: Request) -> Response:
        tenant: str = request.state.tenant
        live = [views.session_json(call) for who, call in gateway.calls.items() if who.tenant == tenant]
        logged = await asyncio.to_thread(_logged, gateway.log_path(tenant, "any"))
        return json_response({"object": "list", "data": live, "logged": logged})

    @router.post("/{name}/hear", status_code=202, summary="Unfinished words of the caller")
    async def hear(request: Request, name: Name, partial: Partial) -> Response:
        """Sends fetches out that the words so far make possible. Never speaks, and takes no turn."""
        tenant: str = request.state.tenant
        if partial.model is not None:
            call = await gateway.call(tenant, name, partial.model)
        else:
            call = await gateway.known_call(tenant, name)
        await call.session.hear(partial.text)
        board = call.session.board
        flying = board.kit.broker.in_flight(SessionId(board.tenant, board.session_id))
        return json_response({"object": "heard", "in_flight": sorted({key.dep for key in flying})}, 202)

    @router.get("/{name}", summary="Where the call stands, and what is believed of the caller")
    async def session(request: Request, name: Name) -> Response:
        return json_response(views.session_json(await current(request, name)))

    @router.get("/{name}/pool", summary="What lies ready, and what is being fetched")
    async def pool(request: Request, name: Name) -> Response:
        return json_response(views.pool_json((await current(request, name)).session.board))

    @router.get("/{name}/forecast", summary="What is expected of the next three turns")
    async def forecast(request: Request, name: Name) -> Response:
        return json_response(views.forecast_json((await current(request, name)).session.board.forecast))

    @router.get("/{name}/ledger", summary="What each turn cost, and what working ahead saved")
    async def ledger(request: Request, name: Name) -> Response:
        return json_response(views.ledger_json(await _events(gateway, request.state.tenant, name)))

    @router.get("/{name}/events", summary="What happened; with `live=true` as server-sent events, and on")
    async def events(
        request: Request, name: Name, live: Annotated[bool, Query(description="Follow the call.")] = False
    ) -> Response:
        if live or "text/event-stream" in request.headers.get("accept", ""):
            call = await gateway.known_call(request.state.tenant, name)
            return EventStream(_followed(call))
        found = await _events(gateway, request.state.tenant, name)
        return json_response({"object": "list", "data": [event.to_json() for event in found]})

    @router.post("/{name}/hang_up", summary="The caller is gone")
    async def hang_up(request: Request, name: Name, how: HangUp | None = None) -> Response:
        await gateway.hang_up(request.state.tenant, name, how.outcome if how else "")
        return json_response({"object": "session.closed", "id": name})

    return router


async def _events(gateway: Gateway, tenant: str, name: str) -> list[Event]:
    call = gateway.calls.get(SessionId(tenant, name))
    found = await views.events_of(call, gateway.log_path(tenant, name))
    if call is None and not found:
        raise ApiError(404, f"There is no session {name!r}.", code="session_not_found")
    return found


def _logged(sample: Path | None) -> list[dict[str, Any]]:
    """The tenant's logged calls, newest first."""
    if sample is None or not sample.parent.is_dir():
        return []
    dated = sorted(((one.path.stat().st_mtime, one.session) for one in log_files(sample.parent)), reverse=True)
    return [{"id": session, "at": at} for at, session in dated[:LISTED]]


async def _followed(call: Call) -> AsyncGenerator[bytes]:
    """Everything so far, then everything as it happens; a comment now and then keeps proxies from hanging up."""
    log = call.session.log
    fresh: asyncio.Queue[Event | None] = asyncio.Queue()

    def listen(event: Event) -> None:
        if fresh.qsize() > MAX_BEHIND:
            fresh.put_nowait(None)
        else:
            fresh.put_nowait(event)

    log.listeners.append(listen)
    try:
        for event in list(log.events):
            yield _line(event)
        while True:
            try:
                async with asyncio.timeout(KEEP_ALIVE_S):
                    newest = await fresh.get()
            except TimeoutError:
                yield b": still here\n\n"
                continue
            if newest is None:
                return
            yield _line(newest)
    finally:
        log.listeners.remove(listen)


def _line(event: Event) -> bytes:
    data = orjson.dumps(event.to_json(), option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS)
    return b"event: " + type(event).__name__.encode() + b"\ndata: " + data + b"\n\n"

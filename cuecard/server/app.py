"""The gateway's ASGI app: for `cuecard serve`, for any ASGI server, and beside LangGraph's own API as `http.app`."""

import gc
import logging
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, RedirectResponse, Response

from cuecard.errors import CuecardError
from cuecard.server import chat, sessions
from cuecard.server.door import Door
from cuecard.server.errors import ApiError, error_response, json_response
from cuecard.server.gateway import Gateway
from cuecard.services import Services, process_services
from cuecard.settings import Settings, get_settings

log = logging.getLogger(__name__)

STATIC = Path(__file__).parent / "static"


def create_app(
    settings: Settings | None = None,
    *,
    procedures: Mapping[str, str] | None = None,
    preload: list[str] | None = None,
    persist: bool = True,
    services: Services | None = None,
) -> FastAPI:
    """The app. With `preload` models are loaded before it is ready; otherwise with the first request that needs them.

    `procedures` adds model names for procedure files; `services` shares those of a process that has them already.
    """
    gateway = Gateway(settings or get_settings(), procedures=procedures, persist=persist, services=services)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        if preload is not None:
            await gateway.preload(preload)
            _settle_process()
        yield
        await gateway.aclose()

    # FastAPI's own documentation pages load scripts from elsewhere.
    app = FastAPI(title="Cuecard gateway", version="1", lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.gateway = gateway
    app.include_router(chat.routes(gateway))
    app.include_router(sessions.routes(gateway))
    _add_plumbing(app, gateway)
    _add_console(app, gateway)
    _add_errors(app)
    app.add_middleware(Door, keys=gateway.keys)
    return app


def _settle_process() -> None:
    """For a process that does nothing but serve: what is loaded stays for good, and threads give way sooner."""
    # A full collection over models and libraries stops every call for a tenth of a second, and finds nothing.
    gc.collect()
    gc.freeze()
    # An embedding begins on a thread; with the default of 5 ms it waits that long for the loop to let it.
    sys.setswitchinterval(0.0005)


def _add_plumbing(app: FastAPI, gateway: Gateway) -> None:
    @app.get("/healthz", tags=["Operation"], summary="The process lives")
    async def healthz() -> Response:
        return json_response({"status": "ok"})

    @app.get("/readyz", tags=["Operation"], summary="Models are loaded and storage is open")
    async def readyz() -> Response:
        return json_response({"status": "ready" if gateway.ready else "loading"}, 200 if gateway.ready else 503)

    @app.get("/metrics", tags=["Operation"], summary="Prometheus metrics")
    async def metrics() -> Response:
        return Response(gateway.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _add_console(app: FastAPI, gateway: Gateway) -> None:
    headers = {
        "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
        "Cache-Control": "no-cache",
        "X-Content-Type-Options": "nosniff",
    }

    @app.get("/", include_in_schema=False)
    async def root() -> Response:
        return RedirectResponse("/console")

    @app.get("/console", include_in_schema=False)
    async def console() -> Response:
        return FileResponse(STATIC / "console.html", headers=headers)

    @app.get("/console/{name}", include_in_schema=False)
    async def asset(name: str) -> Response:
        if name not in {"console.css", "console.js", "calls.js", "panels.js", "timeline.js"}:
            raise ApiError(404, "There is no such page.")
        return FileResponse(STATIC / name, headers=headers)


def _add_errors(app: FastAPI) -> None:
    async def ours(_: Request, error: Exception) -> Response:
        assert isinstance(error, ApiError)
        return error.response()

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first: dict[str, Any] = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body") or None
        return error_response(400, f"{where}: {first['msg']}" if where else str(first["msg"]), param=where)

    async def http(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return error_response(error.status_code, str(error.detail))

    async def refused(_: Request, error: Exception) -> Response:
        return error_response(503, str(error))

    async def unknown(request: Request, error: Exception) -> Response:
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return error_response(500, "Something went wrong here; the log says what.")

    app.add_exception_handler(ApiError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(CuecardError, refused)
    app.add_exception_handler(Exception, unknown)


def __getattr__(name: str) -> Any:
    """`app`, for `langgraph.json`: made when asked for, over the services of the graphs in the same process."""
    if name != "app":
        raise AttributeError(name)
    made = create_app(services=process_services())
    globals()["app"] = made
    return made

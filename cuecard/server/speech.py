"""Sends a reply while it is being spoken, and notices at once when nobody listens any more."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Coroutine
from typing import Any, TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

T = TypeVar("T")


class ClientGone(Exception):
    """The client has closed its connection; there is nobody to answer."""


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """The work's result; when the client leaves first, the work is cancelled and ClientGone raised."""
    leaving = asyncio.ensure_future(_gone(receive))
    working = asyncio.ensure_future(work)
    try:
        await asyncio.wait([leaving, working], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGone
        return working.result()
    finally:
        await _stopped(leaving, working)


class EventStream(Response):
    """Server-sent events. The source is closed as soon as the client has gone, not at the next piece."""

    media_type = "text/event-stream"

    def __init__(self, source: AsyncGenerator[bytes], headers: dict[str, str] | None = None) -> None:
        super().__init__(None, 200, {"Cache-Control": "no-cache", "X-Accel-Buffering": "no", **(headers or {})})
        del self.headers["content-length"]
        self._source = source

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        leaving = asyncio.ensure_future(_gone(receive))
        speaking = asyncio.ensure_future(self._send(send))
        try:
            await asyncio.wait([leaving, speaking], return_when=asyncio.FIRST_COMPLETED)
            if speaking.done():
                speaking.result()
        finally:
            await _stopped(leaving, speaking)
            await self._source.aclose()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async for piece in self._source:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _stopped(*tasks: "asyncio.Future[Any] | Awaitable[Any]") -> None:
    futures = [task for task in tasks if isinstance(task, asyncio.Future)]
    for future in futures:
        future.cancel()
    await asyncio.gather(*futures, return_exceptions=True)

"""Requests straight into an ASGI app, piece by piece, so that a test can leave in the middle of a reply."""

import asyncio
from typing import Any

import orjson

GONE: dict[str, Any] = {"type": "http.disconnect"}


class Request:
    """One request under way. `pieces` are read as they come; `leave` closes the connection."""

    def __init__(
        self, app: Any, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> None:
        content = body if isinstance(body, bytes) else orjson.dumps(body) if body is not None else b""
        sent = {"host": "127.0.0.1", "content-type": "application/json", **(headers or {})}
        route, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": route,
            "raw_path": route.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode()) for name, value in sent.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            "state": {},
        }
        self.status = 0
        self.headers: dict[str, str] = {}
        self._body: list[dict[str, Any]] = [{"type": "http.request", "body": content, "more_body": False}]
        self._left = asyncio.Event()
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.task = asyncio.ensure_future(app(scope, self._receive, self._send))
        self.task.add_done_callback(lambda _: self._pieces.put_nowait(None))

    async def _receive(self) -> dict[str, Any]:
        if self._body:
            return self._body.pop()
        await self._left.wait()
        return GONE

    async def _send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode().lower(): value.decode() for name, value in message["headers"]}
        elif message.get("body"):
            self._pieces.put_nowait(message["body"])

    async def piece(self) -> bytes | None:
        """The next piece of the body; None at its end."""
        return await self._pieces.get()

    async def leave(self) -> None:
        self._left.set()
        await asyncio.wait([self.task])

    async def whole(self) -> Any:
        """The body as JSON, once it is complete; server-sent events as the list of their data."""
        content = b""
        while (piece := await self.piece()) is not None:
            content += piece
        await self.task
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            lines = [line[6:] for line in content.decode().splitlines() if line.startswith("data: ")]
            return [orjson.loads(line) for line in lines if line != "[DONE]"]
        return orjson.loads(content) if content else None


def text_of(answer: Any) -> str:
    """The agent's words in a completion, whole or streamed."""
    if isinstance(answer, list):
        return "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in answer if chunk["choices"])
    return str(answer["choices"][0]["message"]["content"])

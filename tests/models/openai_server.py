"""A real HTTP server on the loopback that speaks OpenAI's chat protocol, streaming included, with scripted replies."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

Reply = str | int | float | None
"""Text to say, an HTTP status of 400 or more to fail with, a float of seconds to hang before the next reply, or None
for an answer that holds nothing."""


@dataclass
class OpenAIServer:
    """Says `replies` in turn, the last one for ever; `requests` are the bodies it was sent."""

    replies: list[Reply]
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    def _next(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    async def completions(self, request: Request) -> Response:
        body = await request.json()
        self.requests.append(body)
        reply = self._next()
        if isinstance(reply, float):
            await asyncio.sleep(reply)
            reply = self._next()
        if isinstance(reply, int):
            return JSONResponse({"error": {"message": "scripted failure", "type": "server_error"}}, reply)
        if reply is None:
            return JSONResponse(_envelope("chat.completion") | {"choices": []})
        if body.get("stream"):
            return StreamingResponse(_events(str(reply)), media_type="text/event-stream")
        message = {"role": "assistant", "content": reply}
        return JSONResponse(
            _envelope("chat.completion") | {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        )


def _envelope(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": int(time.time()), "model": "scripted"}


async def _events(text: str) -> AsyncIterator[str]:
    pieces = [*text.replace(" ", " \0").split("\0"), None]
    for piece in pieces:
        delta = {"content": piece} if piece is not None else {}
        choice = {"index": 0, "delta": delta, "finish_reason": None if piece is not None else "stop"}
        yield f"data: {json.dumps(_envelope('chat.completion.chunk') | {'choices': [choice]})}\n\n"
        await asyncio.sleep(0.005)  # as tokens come: words that arrive together are passed on together
    yield "data: [DONE]\n\n"


@contextmanager
def openai_server(*replies: Reply) -> Iterator[OpenAIServer]:
    """Serve on a free loopback port in a thread until the block ends."""
    scripted = OpenAIServer(list(replies))
    app = Starlette(routes=[Route("/v1/chat/completions", scripted.completions, methods=["POST"])])
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    scripted.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/v1"
    try:
        yield scripted
    finally:
        server.should_exit = True
        thread.join(timeout=10)

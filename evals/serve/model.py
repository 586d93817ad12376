"""A chat model that takes 200 ms to its first word, over OpenAI's protocol, as a process of its own."""

import asyncio
import sys
from collections.abc import AsyncIterator

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

FIRST_WORD_S = 0.2
WORDS = ("STEP: acknowledge\n", "Right,", " I", " see", " what", " you", " mean.")


JUDGEMENT = orjson.dumps(
    {
        "state": "small_talk",
        "p_state": 0.7,
        "second_state": "agrees",
        "cohort": "loyal_renewer",
        "p_cohort": 0.5,
        "mood": "content",
        "p_mood": 0.5,
        "p_change": 0.6,
    }
).decode()
"""What the supervisor's structured question is answered with."""


def _chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "fake", "choices": [choice]}
    return b"data: " + orjson.dumps(body) + b"\n\n"


_SPOKEN = [_chunk({"role": "assistant", "content": word}) for word in WORDS]


async def _complete(request: Request) -> Response:
    asked = orjson.loads(await request.body())
    if asked.get("stream"):

        async def speak() -> AsyncIterator[bytes]:
            await asyncio.sleep(FIRST_WORD_S)
            for piece in _SPOKEN:
                yield piece
            yield _chunk({}, "stop")
            yield b"data: [DONE]\n\n"

        return StreamingResponse(speak(), media_type="text/event-stream")
    await asyncio.sleep(FIRST_WORD_S)
    message = {"role": "assistant", "content": JUDGEMENT}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    body = {"id": "x", "object": "chat.completion", "created": 0, "model": "fake", "choices": choices}
    return Response(orjson.dumps(body), media_type="application/json")


def main() -> None:
    app = Starlette(routes=[Route("/v1/chat/completions", _complete, methods=["POST"])])
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)


if __name__ == "__main__":
    main()

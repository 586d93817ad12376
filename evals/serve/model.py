"""A chat model that takes 200 ms to its first word, over OpenAI's protocol, as a process of its own.

Written on bare streams: it shares the machine with what is measured, and a web framework would cost as much as that.
"""

import asyncio
import sys

import orjson

from evals.serve.wire import read_request

FIRST_WORD_S = 0.2
NEXT_WORD_S = 0.02
"""Fifty words a second, so that words do not arrive in one lump, as those of real models don't."""
WORDS = ("STEP: acknowledge\nRight,", " I", " see", " what", " you", " mean.")

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
    return _framed(b"data: " + orjson.dumps(body) + b"\n\n")


def _framed(piece: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(piece), piece)


_SPOKEN = [_chunk({"role": "assistant", "content": word}) for word in WORDS]
_END = _chunk({}, "stop") + _framed(b"data: [DONE]\n\n") + _framed(b"")
_STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def _whole() -> bytes:
    message = {"role": "assistant", "content": JUDGEMENT}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    body = orjson.dumps({"id": "x", "object": "chat.completion", "created": 0, "model": "fake", "choices": choices})
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection: requests are answered in turn until the client leaves."""
    try:
        while (body := await read_request(reader)) is not None:
            streamed = orjson.loads(body).get("stream")
            await asyncio.sleep(FIRST_WORD_S)
            if not streamed:
                writer.write(_whole())
                continue
            writer.write(_STREAM + _SPOKEN[0])
            for piece in _SPOKEN[1:]:
                await asyncio.sleep(NEXT_WORD_S)
                writer.write(piece)
            writer.write(_END)
    except ConnectionError:
        pass
    finally:
        writer.close()


async def serve(port: int) -> None:
    async with await asyncio.start_server(_answer, "127.0.0.1", port, backlog=512) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))

"""The responder's overhead on the wall clock, with SQLite persistence, history, and a supervisor at work beside it."""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

import numpy as np

from cuecard.blackboard import Board
from cuecard.context import Context
from cuecard.models.embeddings import Embedder, Matrix
from cuecard.session import Engine, Session
from cuecard.session.storage import open_storage
from cuecard.settings import Settings
from evals.hotpath.floor import floor_graph
from nodes.trigger import responder_thread

HISTORY_TURNS = 20
PROCEDURE = "insurance_renewal"
LINES = (
    "hello there, it's about my car policy running out",
    "hold on, the letter is somewhere on this desk",
    "well it went up an awful lot since last spring",
    "my neighbour pays less than half of that, you know",
    "and would that still hold if my daughter borrowed it for a weekend",
    "right, I see what you mean, go on then",
    "lovely weather for a drive today at least",
    "could you say that again for me please",
)
"""Written for this bench; nothing is tuned on them."""


async def measure(
    turns: int, *, partials: bool = False, on_turn: Callable[[], None] = lambda: None
) -> dict[str, float | int]:
    """Milliseconds over `turns` measured turns, each after at least 20 turns of history.

    The floor (the same graph with empty nodes, same persistence, same history) and the embedding alone are measured in
    turn with it, so that all three see the same machine.
    """
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder), event_logs=True, openai_api_key=None, openai_base_url=None)
        async with Engine.open(settings) as engine, open_storage(settings, persist=True) as storage:
            counted = engine.services.embedder = _Counted(engine.services.embedder)
            session = await engine.session(PROCEDURE, session_id="measured", context=Context())
            await _history(session)
            floor = floor_graph().compile(checkpointer=storage.responder, store=storage.store)
            config: Any = {"configurable": {"thread_id": responder_thread("default", "floor")}}
            history: Any = {"messages": await session.history()}
            await floor.ainvoke(history, config, durability="exit")
            beside = asyncio.create_task(_busy(engine))
            try:
                rows = []
                for n in range(turns):
                    words = LINES[n % len(LINES)] + f" ({n})"
                    rows.append(await _one(counted, session, floor, config, words, partials))
                    on_turn()
            finally:
                beside.cancel()
                with suppress(asyncio.CancelledError):
                    await beside
            await session.hang_up()
    return _summary(rows)


async def _one(
    counted: "_Counted", session: Session, floor: Any, config: dict[str, Any], words: str, partials: bool
) -> tuple[float, float, float, int]:
    """(floor, embedding, overhead) in milliseconds and embeddings run at the end of the turn; pauses between."""
    began = time.perf_counter()
    async with aclosing(floor.astream({"utterance": words}, config, stream_mode="custom", durability="exit")) as run:
        async for _ in run:
            floor_ms = 1000.0 * (time.perf_counter() - began)
    await asyncio.sleep(0.05)
    began = time.perf_counter()
    counted.embed([words])
    embed_ms = 1000.0 * (time.perf_counter() - began)
    if partials:
        pieces = words.split()
        for end in (len(pieces) // 2, len(pieces)):
            await session.hear(" ".join(pieces[:end]))
            await asyncio.sleep(0.2)
    await asyncio.sleep(0.1)
    _keep_open(session.board)
    counted.begin(words)
    async for _ in session.say(words):
        counted.end()
    return floor_ms, embed_ms, session.reply.overhead_ms, counted.at_end


def _keep_open(board: Board) -> None:
    """Repeating oneself would end the call with a hand-over; the bench wants the hundredth turn like the first."""
    board.desk.repeats = 0


class _Counted:
    """The embedder, counting how often words of the turn are embedded between final words and first word."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._words = ""
        self.at_end = 0

    def embed(self, texts: Sequence[str]) -> Matrix:
        # Runs on threads; other calls' texts hold other words.
        if self._words and any(self._words in text.casefold() for text in texts):
            self.at_end += 1
        return self._embedder.embed(texts)

    def begin(self, words: str) -> None:
        self._words, self.at_end = words.casefold(), 0

    def end(self) -> None:
        self._words = ""


async def _history(session: Session) -> None:
    await session.greet()
    for n in range(HISTORY_TURNS):
        _keep_open(session.board)
        await session.ask(LINES[n % len(LINES)])
    await session.settle()


async def _busy(engine: Engine) -> None:
    """Another call whose supervisor always has work."""
    other = await engine.session(PROCEDURE, session_id="beside", context=Context())
    await other.greet()
    n = 0
    while True:
        n += 1
        payload = {
            "tenant": "default",
            "session_id": "beside",
            "procedure": PROCEDURE,
            "turn": n,
            "utterance": LINES[n % len(LINES)],
            "desk": other.board.desk.to_json(),
        }
        engine.trigger.submit(payload, other.context)  # type: ignore[arg-type]
        await asyncio.sleep(0.25)


def _summary(rows: list[tuple[float, float, float, int]]) -> dict[str, float | int]:
    floor, embed, overhead, at_end = zip(*rows, strict=True)
    embed_p50, overhead_p50 = statistics.median(embed), statistics.median(overhead)
    return {
        "n": len(rows),
        "embed_ms_p50": round(embed_p50, 3),
        "overhead_ms_p50": round(overhead_p50, 3),
        "overhead_ms_p95": round(float(np.percentile(overhead, 95)), 3),
        "ratio": round(overhead_p50 / embed_p50, 3),
        "floor_ms_p50": round(statistics.median(floor), 3),
        "above_embedding_ms": round(overhead_p50 - embed_p50, 3),
        "above_floor_ms": round(overhead_p50 - statistics.median(floor), 3),
        "embeddings_at_end": sum(at_end),
    }

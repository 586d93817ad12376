"""Times one turn on the wall clock through the whole product: graphs, broker, pool, model seam."""

import asyncio
import statistics
import tempfile
import time
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal, NamedTuple

from cuecard.context import Context
from cuecard.models.chat import register_provider
from cuecard.session import Engine
from cuecard.settings import Settings
from evals.toolturn.source import MODEL_S, TOOL_S, QuickModel

PROCEDURE = str(Path(__file__).with_name("parcel_desk.yaml"))
WORDS = "where is my parcel"
SPEAKING_S = 4.5
"""The caller takes this long to ask: half the median turn of recorded calls."""
APART_S = 0.4
"""Calls start one after another, so that they don't wait for each other's work."""


class Timed(NamedTuple):
    """Seconds from the caller's final words to the first word of anything, and of the answer."""

    first_sound_s: float
    first_word_s: float
    how: str


async def measure(calls: int) -> dict[str, Any]:
    """Predicted and mispredicted turns side by side; every figure is real time on this machine."""
    register_provider("quick", lambda _model, _settings: QuickModel())
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder), chat_model="quick:any", openai_api_key="unused")
        async with Engine.open(settings, persist=False) as engine:
            await engine.services.start(PROCEDURE)
            # The supervisor runs without a model: what is timed is the responder, and what lies ready for it.
            engine.services.slow_chat = None
            await _call(engine, "warm-up", "none", 0.0)
            predicted = await _calls(engine, "value", calls)
            mispredicted = await _calls(engine, "none", calls)
    return {
        "tool_s": TOOL_S,
        "model_s": MODEL_S,
        "calls": calls,
        "predicted": _summary(predicted),
        "mispredicted": _summary(mispredicted),
    }


async def _calls(engine: Engine, prefetch: Literal["value", "none"], calls: int) -> list[Timed]:
    return await asyncio.gather(*(_call(engine, f"{prefetch}-{n}", prefetch, n * APART_S) for n in range(calls)))


async def _call(engine: Engine, name: str, prefetch: Literal["value", "none"], after_s: float) -> Timed:
    """Greet, give the supervisor the time the caller takes to ask, then time the answer."""
    await asyncio.sleep(after_s)
    session = await engine.session(
        PROCEDURE, session_id=name, context=Context(procedure=PROCEDURE, session_id=name, prefetch=prefetch)
    )
    await session.greet()
    await asyncio.sleep(SPEAKING_S)
    began = time.perf_counter()
    sound_s = word_s = 0.0
    async with session.order(), aclosing(session.speak(WORDS)) as pieces:
        async for piece in pieces:
            now_s = time.perf_counter() - began
            sound_s = sound_s or now_s
            if not piece.holding:
                word_s = word_s or now_s
    await session.hang_up()
    return Timed(sound_s, word_s, "stalled" if session.reply.stall_s > 0.05 else "ready")


def _summary(timed: list[Timed]) -> dict[str, Any]:
    words = sorted(one.first_word_s for one in timed)
    return {
        "first_word_s_p50": round(statistics.median(words), 3),
        "first_word_s_max": round(words[-1], 3),
        "first_sound_s_p50": round(statistics.median(one.first_sound_s for one in timed), 3),
        "ready": sum(one.how == "ready" for one in timed),
        "stalled": sum(one.how == "stalled" for one in timed),
    }

"""A call through a Pipecat pipeline, offline: `python examples/pipecat_call.py` (needs the extra `pipecat`).

Pipecat logs every step to stderr; `LOGURU_LEVEL=WARNING python examples/pipecat_call.py` shows the call alone.

Transcription frames stand in for a recogniser. In production put transport, recogniser, user aggregator and synthesiser
around the same two processors.
"""

import asyncio

from pipecat.frames.frames import Frame, InterimTranscriptionFrame, LLMContextFrame, LLMTextFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.tests.utils import SleepFrame, run_test

from cuecard.adapters.pipecat import CuecardLLMService
from cuecard.session import Engine

WORDS = "hello, it's policy 343705 and I was born on 8 January 1942"


def interim(text: str) -> InterimTranscriptionFrame:
    return InterimTranscriptionFrame(text, user_id="caller", timestamp="2026-01-01T00:00:00Z")


async def main() -> str:
    async with Engine.open(persist=False) as engine:
        brain = CuecardLLMService(await engine.session("insurance_renewal"))
        pipeline = Pipeline([brain.ears(), brain])
        frames: list[Frame] = [
            interim("hello, it's policy 343705"),
            SleepFrame(0.5),
            LLMContextFrame(LLMContext([{"role": "user", "content": WORDS}])),
            SleepFrame(3.0),
        ]
        down, _ = await run_test(pipeline, frames_to_send=frames, start_timeout=10.0)
        reply = "".join(frame.text for frame in down if isinstance(frame, LLMTextFrame))
        print("caller:", WORDS)
        print("agent: ", reply)
        return reply


if __name__ == "__main__":
    asyncio.run(main())

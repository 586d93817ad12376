"""Pipecat's own test pipeline, offline, with transcription frames instead of a recogniser."""

import asyncio
from collections.abc import Sequence

import pytest

pytest.importorskip("pipecat", reason="needs the extra pipecat")

from pipecat.frames.frames import (
    Frame,
    InterimTranscriptionFrame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.tests.utils import SleepFrame, run_test

from cuecard.adapters.pipecat import CuecardLLMService
from cuecard.prefetch.events import FetchStarted
from cuecard.session import Session
from tests.adapters.conftest import KNOWN

pytestmark = pytest.mark.filterwarnings("default")


def asked(*said: str) -> LLMContextFrame:
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(said)]
    return LLMContextFrame(LLMContext(messages))


def words(frames: Sequence[Frame]) -> str:
    return "".join(frame.text for frame in frames if isinstance(frame, LLMTextFrame))


def interim(text: str) -> InterimTranscriptionFrame:
    return InterimTranscriptionFrame(text, user_id="caller", timestamp="2026-01-01T00:00:00Z")


async def test_a_pipeline_speaks_the_reply_between_its_start_and_end(call: Session) -> None:
    brain = CuecardLLMService(call)
    down, _ = await run_test(brain, frames_to_send=[asked(KNOWN), SleepFrame(3.0)], start_timeout=10.0)
    kinds = [type(frame) for frame in down if isinstance(frame, LLMTextFrame | LLMFullResponseStartFrame)]
    assert kinds[0] is LLMFullResponseStartFrame
    assert any(isinstance(frame, LLMFullResponseEndFrame) for frame in down)
    assert "how many miles" in words(down)
    assert call.board.desk.verified


async def test_interim_transcripts_reach_the_ears_and_pass_on(call: Session) -> None:
    brain = CuecardLLMService(call)
    await call.greet()
    pipeline = Pipeline([brain.ears(), brain])
    heard = [interim("my policy number is 343705"), SleepFrame(0.6)]
    down, _ = await run_test(pipeline, frames_to_send=heard, start_timeout=10.0)
    assert any(isinstance(frame, InterimTranscriptionFrame) for frame in down)
    assert "identity" in [event.dep for event in call.log.events if isinstance(event, FetchStarted)]
    assert call.board.turn == 1


async def test_a_repeated_context_takes_no_second_turn(call: Session) -> None:
    brain = CuecardLLMService(call)
    twice = [asked("hello, my insurance is running out"), SleepFrame(1.5)] * 2
    down, _ = await run_test(brain, frames_to_send=twice, start_timeout=10.0)
    assert call.board.turn == 1
    assert len(await call.history()) == 2
    assert words(down)


async def test_an_interruption_stops_speech_and_not_fetches(call: Session) -> None:
    brain = CuecardLLMService(call)
    await call.ask(KNOWN)
    await call.settle()
    wanted = {key.dep for key in call.board.kit.broker.in_flight(("default", "room"))}  # type: ignore[arg-type]
    assert wanted
    frames = [asked(KNOWN, call.reply.text, "what a day"), InterruptionFrame(), SleepFrame(0.2)]
    await run_test(brain, frames_to_send=frames, start_timeout=10.0)
    await asyncio.sleep(8.5)
    assert wanted <= {item.dep for item in call.board.pool.items}

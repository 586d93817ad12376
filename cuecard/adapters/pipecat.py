"""Pipecat: a Cuecard call as the pipeline's LLM service, and ears for it. Needs the extra `pipecat`.

brain = CuecardLLMService(await engine.session("insurance_renewal", session_id=room))
pipeline = Pipeline([transport.input(), stt, brain.ears(), user_aggregator, brain, tts, transport.output(), ...])
"""

from contextlib import aclosing
from typing import Any

from pipecat.frames.frames import (
    Frame,
    InterimTranscriptionFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.llm_service import LLMService

from cuecard.errors import CuecardError
from cuecard.server.calls import Call
from cuecard.server.placing import wish_of
from cuecard.session import Session
from nodes.state import flat_text


class CuecardLLMService(LLMService[Any]):
    """Answers contexts from one session. Interruptions stop speech and not fetches; repeats take no second turn."""

    def __init__(self, session: Session, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.call = Call(session)

    def ears(self) -> "CuecardEars":
        """A processor to stand between the recogniser and the user aggregator, which keeps interim words to itself."""
        return CuecardEars(self.call.session)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if not isinstance(frame, LLMContextFrame):
            await self.push_frame(frame, direction)
            return
        await self.push_frame(LLMFullResponseStartFrame())
        try:
            await self._speak(frame.context)
        except CuecardError as error:
            await self.push_error(error_msg=str(error), exception=error)
        finally:
            await self.push_frame(LLMFullResponseEndFrame())

    async def _speak(self, context: LLMContext) -> None:
        turn = self.call.take(wish_of(messages_of(context)))
        async with aclosing(turn.listen()) as pieces:
            async for piece in pieces:
                await self.push_frame(LLMTextFrame(f"{piece.text} " if piece.holding else piece.text))


class CuecardEars(FrameProcessor):
    """Passes everything on, and lets interim transcripts send fetches out."""

    def __init__(self, session: Session, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._session = session

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InterimTranscriptionFrame):
            await self._session.hear(frame.text)
        await self.push_frame(frame, direction)


def messages_of(context: LLMContext) -> list[dict[str, str]]:
    """What was said, in OpenAI's shape, without tools and system words."""
    return [
        {"role": str(message["role"]), "content": flat_text(message.get("content"))}
        for message in context.get_messages()
        if isinstance(message, dict) and message.get("role") in {"user", "assistant"}
    ]

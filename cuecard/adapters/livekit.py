"""LiveKit Agents: a Cuecard call as the session's LLM. Needs the extra `livekit`.

    call = await engine.session("insurance_renewal", session_id=room.name)
    brain = CuecardLLM(call)
    session = AgentSession(llm=brain, stt=..., tts=...)
    brain.listen(session)

LiveKit's own function tools are not used: what a call may do is in the procedure.
"""

import asyncio
import uuid
from contextlib import aclosing
from typing import Any

from livekit.agents import AgentSession, APIConnectOptions, UserInputTranscribedEvent
from livekit.agents.llm import LLM, ChatChunk, ChatContext, ChoiceDelta, LLMStream
from livekit.agents.types import DEFAULT_API_CONNECT_OPTIONS

from cuecard.server.calls import Call
from cuecard.server.placing import wish_of
from cuecard.session import Session


class CuecardLLM(LLM[Any]):
    """Answers from one session. Speculative generations of the same words join one turn; cancelled ones take none."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.call = Call(session)
        self._hearing: set[asyncio.Task[None]] = set()

    @property
    def model(self) -> str:
        return str(self.call.session.context.procedure)

    @property
    def provider(self) -> str:
        return "cuecard"

    def chat(
        self,
        *,
        chat_ctx: ChatContext,
        tools: list[Any] | None = None,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
        **_unused: Any,
    ) -> LLMStream:
        """The reply to the context's last words; an agent-first context opens the call."""
        return _Speech(self, chat_ctx=chat_ctx, tools=tools or [], conn_options=conn_options)

    def listen(self, session: AgentSession[Any]) -> None:
        """Let interim transcripts send fetches out while the caller still speaks."""

        @session.on("user_input_transcribed")  # type: ignore[untyped-decorator, unused-ignore]
        def _heard(event: UserInputTranscribedEvent) -> None:
            if not event.is_final:
                task = asyncio.get_running_loop().create_task(self.call.session.hear(event.transcript))
                self._hearing.add(task)
                task.add_done_callback(self._hearing.discard)


class _Speech(LLMStream):
    """One reply on its way to the synthesiser. Closing it is a barge-in: speech stops, fetches go on."""

    async def _run(self) -> None:
        llm = self._llm
        assert isinstance(llm, CuecardLLM)
        turn = llm.call.take(wish_of(messages_of(self._chat_ctx)))
        name = uuid.uuid4().hex
        async with aclosing(turn.listen()) as pieces:
            async for piece in pieces:
                text = f"{piece.text} " if piece.holding else piece.text
                self._event_ch.send_nowait(ChatChunk(id=name, delta=ChoiceDelta(role="assistant", content=text)))


def messages_of(context: ChatContext) -> list[dict[str, str]]:
    """What was said, in OpenAI's shape; an interrupted reply counts with what was heard of it."""
    return [
        {"role": message.role, "content": message.text_content or ""}
        for message in context.messages()
        if message.role in {"user", "assistant"}
    ]

"""LiveKit's own session and test tools, offline, with typed speech instead of a microphone."""

import asyncio

import pytest

pytest.importorskip("livekit.agents", reason="needs the extra livekit")

from livekit.agents import Agent, AgentSession, UserInputTranscribedEvent
from livekit.agents.llm import ChatContext

from cuecard.adapters.livekit import CuecardLLM
from cuecard.prefetch.events import FetchStarted
from cuecard.session import Session
from tests.adapters.conftest import KNOWN

pytestmark = pytest.mark.filterwarnings("default")


async def test_a_livekit_session_holds_a_call(call: Session) -> None:
    async with AgentSession(llm=CuecardLLM(call)) as session:
        await session.start(Agent(instructions="unused: the procedure speaks"))
        first = await session.run(user_input="hello, I'd like to renew my car insurance")
        first.expect.next_event().is_message(role="assistant")
        second = await session.run(user_input=KNOWN)
        said = second.expect.next_event().is_message(role="assistant").event().item.text_content or ""
    assert "how many miles" in said
    assert call.board.desk.verified
    assert call.board.turn == 2


async def test_interim_transcripts_reach_the_ears(call: Session) -> None:
    brain = CuecardLLM(call)
    async with AgentSession(llm=brain) as session:
        brain.listen(session)
        await call.greet()
        session.emit(
            "user_input_transcribed", UserInputTranscribedEvent(transcript="my policy number is 343705", is_final=False)
        )
        await asyncio.sleep(0.6)
    early = [event.dep for event in call.log.events if isinstance(event, FetchStarted)]
    assert "identity" in early, "the slot fired in the middle of the sentence"
    assert call.board.turn == 1, "hearing never takes a turn"


def context(*said: str) -> ChatContext:
    made = ChatContext.empty()
    for n, text in enumerate(said):
        made.add_message(role="assistant" if n % 2 else "user", content=text)
    return made


async def test_a_speculative_generation_that_is_dropped_takes_no_turn(call: Session) -> None:
    brain = CuecardLLM(call)
    early = brain.chat(chat_ctx=context("hello it's"))
    await early.aclose()
    async with brain.chat(chat_ctx=context("hello it's " + KNOWN)) as final:
        reply = "".join([chunk.delta.content or "" async for chunk in final if chunk.delta])
    assert "how many miles" in reply
    assert call.board.turn == 1
    assert len(await call.history()) == 2


async def test_the_same_words_twice_take_one_turn(call: Session) -> None:
    brain = CuecardLLM(call)
    replies = []
    for _ in range(2):
        async with brain.chat(chat_ctx=context("hello, my insurance is running out")) as stream:
            replies.append("".join([chunk.delta.content or "" async for chunk in stream if chunk.delta]))
    assert replies[0] == replies[1] != ""
    assert call.board.turn == 1


async def test_a_barge_in_stops_speech_and_not_fetches(call: Session) -> None:
    brain = CuecardLLM(call)
    await call.ask(KNOWN)
    await call.settle()
    flying = call.board.kit.broker.in_flight(("default", "room"))  # type: ignore[arg-type]
    assert flying
    stream = brain.chat(chat_ctx=context(KNOWN, call.reply.text, "what a day"))
    await anext(aiter(stream))
    await stream.aclose()
    still = call.board.kit.broker.in_flight(("default", "room"))  # type: ignore[arg-type]
    assert set(still) | {item.dep for item in call.board.pool.items}
    assert all(work.state != "done" or work.missing is None for work in flying.values())

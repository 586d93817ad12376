"""The same graphs on a chat model, against a real server that speaks OpenAI's protocol."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from pydantic import BaseModel, SecretStr

from cuecard.errors import ModelError
from cuecard.events import Decided, Degraded
from cuecard.models.chat import Chat, build_chat
from cuecard.models.openai import EndpointError
from cuecard.models.openai import _texts as texts_of
from cuecard.models.tokens import estimate
from cuecard.session import Engine
from cuecard.settings import Settings
from tests.models.openai_server import openai_server

pytestmark = pytest.mark.sockets

JUDGED = (
    '{"state": "small_talk", "p_state": 0.9, "second_state": "opens", "cohort": "loyal_renewer", "p_cohort": 0.5,'
    ' "mood": "", "p_mood": 0.3, "p_change": 0.4}'
)


def pointed_at(settings: Settings, url: str, timeout_s: float = 5.0) -> Settings:
    return settings.model_copy(
        update={"openai_base_url": url, "openai_api_key": SecretStr("k"), "chat_timeout_s": timeout_s}
    )


@asynccontextmanager
async def a_chat(settings: Settings) -> AsyncIterator[Chat]:
    chat = build_chat(settings, estimate)
    assert chat is not None
    yield chat
    await chat.aclose()


class Answer(BaseModel):
    number: int


async def test_a_reply_is_streamed_from_an_openai_server_in_pieces(settings: Settings) -> None:
    with openai_server("STEP: acknowledge\nWhat a lovely day it is.", JUDGED) as server:
        async with Engine.open(pointed_at(settings, server.url), persist=False) as engine:
            session = await engine.session("insurance_renewal")
            pieces = [piece async for piece in session.say("what a lovely day")]
            await session.settle()
    assert len(pieces) > 3
    assert "".join(pieces).strip() == "What a lovely day it is."
    assert (session.reply.action, session.reply.tier) == ("acknowledge", "single_call")
    assert server.requests[0]["stream"] is True
    assert "what a lovely day" in server.requests[0]["messages"][-1]["content"]


async def test_a_step_that_is_not_allowed_is_not_taken(settings: Settings) -> None:
    with openai_server("STEP: renew_policy\nI have renewed it for you.") as server:
        async with Engine.open(pointed_at(settings, server.url), persist=False) as engine:
            session = await engine.session("insurance_renewal")
            reply = await session.ask("hello, my car insurance is running out")
            await session.settle()
    assert reply.action == "verify_identity"
    assert any("not allowed" in event.reason for event in session.log.of(Degraded))  # type: ignore[attr-defined]


async def test_without_an_answer_in_time_the_approved_reply_is_said_and_the_ledger_says_so(settings: Settings) -> None:
    with openai_server(30.0, "too late") as server:
        async with Engine.open(pointed_at(settings, server.url, timeout_s=0.4), persist=False) as engine:
            session = await engine.session("insurance_renewal")
            began = asyncio.get_running_loop().time()
            reply = await session.ask("hello, my car insurance is running out")
            took_s = asyncio.get_running_loop().time() - began
            await session.settle()
    approved = engine.services.settings and session.board.kit.procedure.actions["verify_identity"].replies
    assert reply.text in approved
    # One budget for the decision and one for the words: never more than that.
    assert took_s < 5.0
    assert next(event.part for event in session.log.of(Degraded)) == "chat"  # type: ignore[attr-defined]
    assert [event.tier for event in session.log.of(Decided)] == ["rules"]  # type: ignore[attr-defined]


async def test_one_failure_is_retried_within_the_budget(settings: Settings) -> None:
    with openai_server(503, "hello there") as server:
        async with a_chat(pointed_at(settings, server.url)) as chat:
            assert await chat.complete([("user", "hi")]) == "hello there"
    assert len(server.requests) == 2


async def test_a_malformed_structured_answer_gets_one_repair(settings: Settings) -> None:
    with openai_server("no JSON at all", '```json\n{"number": 7}\n```') as server:
        async with a_chat(pointed_at(settings, server.url)) as chat:
            assert (await chat.structured([("user", "a number")], Answer)).number == 7
    assert "not valid" in server.requests[1]["messages"][-1]["content"]


async def test_an_answer_that_stays_malformed_is_an_error_that_names_the_schema(settings: Settings) -> None:
    with openai_server('{"number": "many"}') as server:
        async with a_chat(pointed_at(settings, server.url)) as chat:
            with pytest.raises(ModelError, match="Answer"):
                await chat.structured([("user", "a number")], Answer)


async def test_nobody_listening_is_an_error_and_not_a_hang(settings: Settings) -> None:
    async with a_chat(pointed_at(settings, "http://127.0.0.1:9/v1")) as chat:
        with pytest.raises(ModelError):
            await chat.complete([("user", "hi")])


async def read(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def test_half_a_sentence_does_not_pass_for_a_reply() -> None:
    texts = texts_of(read(b'data: {"choices": [{"delta": {"content": "Of cou"}, "finish_reason": null}]}\n\n'))
    assert await anext(texts) == "Of cou"
    with pytest.raises(EndpointError, match="in the middle of an answer"):
        await anext(texts)


@pytest.mark.parametrize("last", [b"data: [DONE]\n\n", b'data: {"choices": [{"finish_reason": "stop"}]}'])
async def test_either_way_of_ending_a_stream_counts(last: bytes) -> None:
    said = b'data: {"choices": [{"delta": {"content": "Sure."}}]}\n\n'
    assert [text async for text in texts_of(read(said, last))] == ["Sure."]


async def test_an_answer_without_choices_is_a_model_error(settings: Settings) -> None:
    with openai_server(None) as server:
        async with a_chat(pointed_at(settings, server.url)) as chat:
            with pytest.raises(ModelError, match="without choices"):
                await chat.structured([("user", "a number?")], Answer)

"""Requests that are well-formed and unusual: odd names, wrong procedures, outcomes in a caller's words."""

import asyncio
from typing import Any

import pytest

from tests.server.asgi import text_of
from tests.server.conftest import Client

HELLO = {"model": "insurance_renewal", "messages": [{"role": "user", "content": "hello"}]}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", ["Zoë ☎", "a\r\nX-Evil: 1"])
def test_a_session_whose_name_fits_no_header_is_served_all_the_same(client: Client, name: str, stream: bool) -> None:
    async def call() -> Any:
        request = client.request("POST", "/v1/chat/completions", {**HELLO, "user": name, "stream": stream})
        return await request.whole(), request

    answer, request = client.run(call())
    assert request.status == 200
    assert text_of(answer)
    assert "x-evil" not in request.headers
    whole = answer[-1] if stream else answer
    assert whole["cuecard"]["session_id"] == name


def test_a_call_taken_up_again_under_another_procedure_is_refused_and_goes_on_under_its_own(client: Client) -> None:
    async def call(session: str) -> tuple[int, Any]:
        await client.chat(session, "hello, policy 343705, born 8 January 1942").whole()
        await asyncio.sleep(8.0)
        await client.request("POST", f"/v1/sessions/{session}/hang_up", {}).whole()
        other = client.request(
            "POST", "/v1/chat/completions", HELLO | {"model": "card_activation"}, x_session_id=session
        )
        await other.whole()
        return other.status, await client.chat(session, "about nine thousand miles").whole()

    status, answer = client.run(call(client.session()))
    assert status == 409
    assert answer["cuecard"]["action"] == "present_quote"


def test_what_a_client_calls_the_outcome_is_no_label_of_the_metrics(client: Client) -> None:
    async def call(session: str) -> None:
        await client.chat(session, "hello").whole()
        told = {"outcome": "rang off, John Smith, 07700 900123"}
        await client.request("POST", f"/v1/sessions/{session}/hang_up", told).whole()

    client.run(call(client.session()))
    text = client.gateway.metrics.text().decode()
    assert "John" not in text
    assert 'outcome="other"' in text


def test_a_turn_that_breaks_while_it_is_spoken_ends_the_stream_with_an_error(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def call(session: str) -> list[bytes]:
        await client.chat(session, "hello").whole()
        spoken = client.gateway.calls[_who(client, session)].session

        async def half_a_reply(*_: Any, **__: Any) -> Any:
            from cuecard.session import Piece

            yield Piece("Well, ")
            await asyncio.sleep(1.0)
            raise KeyError("policy 343705")

        monkeypatch.setattr(spoken, "speak", half_a_reply)
        request = client.chat(session, "what does it cost", stream=True)
        pieces = []
        while (piece := await request.piece()) is not None:
            pieces.append(piece)
        await request.task
        return pieces

    pieces = client.run(call(client.session()))
    assert b"Well, " in pieces[0]
    assert b'"error"' in pieces[-1]
    assert b"343705" not in b"".join(pieces)


def _who(client: Client, session: str) -> Any:
    return next(who for who in client.gateway.calls if who == (client.tenant, session))

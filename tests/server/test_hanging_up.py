"""Hanging up while the call is being talked to: what is under way ends first, and what comes later begins anew."""

import asyncio
from typing import Any

from cuecard.events import SessionEnded, Spoke
from tests.server.conftest import Client
from tests.server.test_gateway import CALLER, board_of, bring_to_the_yes


def hang_up(client: Client, session: str) -> Any:
    return client.request("POST", f"/v1/sessions/{session}/hang_up").whole()


def test_a_write_that_a_barge_in_waits_for_is_in_the_books_before_the_call_is_closed(client: Client) -> None:
    async def call(session: str) -> Any:
        said = await bring_to_the_yes(client, session)
        first = client.chat(session, *said, "yes, please renew it", stream=True)
        assert await first.piece() is not None
        board = board_of(client, session)
        assert board.live.wrote
        assert not board.desk.writes
        second = client.chat(session, *said, "yes, please renew it", "One moment", "hello?", stream=True)
        await asyncio.sleep(0.01)
        await hang_up(client, session)
        await asyncio.wait([first.task, second.task])
        return board

    board = client.run(call(client.session()))
    assert len(board.desk.writes) == 1
    (ended,) = board.log.of(SessionEnded)
    assert ended.outcome == "success", "the write was known when the call was closed"
    spoken = [event for event in board.log.of(Spoke) if event.action == "renew_policy"]
    assert len(spoken) == 1
    assert board.log.events.index(spoken[0]) < board.log.events.index(ended)


def test_words_that_come_while_a_call_is_closed_are_answered_on_a_board_that_lives(client: Client) -> None:
    async def call(session: str) -> tuple[Any, Any]:
        await client.chat(session, CALLER).whole()
        closing = asyncio.ensure_future(hang_up(client, session))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        answer = await client.chat(session, CALLER, "What is your mileage?", "about nine thousand miles").whole()
        await closing
        return board_of(client, session), answer

    session = client.session()
    board, answer = client.run(call(session))
    assert answer["cuecard"]["turn"] == 2
    assert board is not None, "the turn's board is the process's"
    assert board.turn == 2
    assert board.desk.facts["annual_mileage"] == "9000"


def test_a_turn_that_is_streamed_when_the_caller_hangs_up_counts_with_what_was_said(client: Client) -> None:
    async def call(session: str) -> tuple[int, Any]:
        await client.chat(session, CALLER).whole()
        streamed = client.chat(session, CALLER, "And the miles?", "what does it cost me", stream=True)
        while b"content" not in (await streamed.piece() or b"content"):
            pass
        board = board_of(client, session)
        await hang_up(client, session)
        await asyncio.wait([streamed.task])
        return board.committed, client.gateway._services.known_board(client.tenant, session)

    committed, left = client.run(call(client.session()))
    assert committed in {1, 2}
    assert left is None, "nothing of the call is held here any more"

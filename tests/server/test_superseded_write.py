"""A write that has left is not undone: the turn it belongs to counts, whatever words take its place."""

from typing import Any

import pytest

from tests.server.conftest import Client
from tests.server.test_gateway import board_of, bring_to_the_yes


@pytest.mark.parametrize("how", ["other words", "leaves"])
def test_words_that_come_while_a_write_is_under_way_are_answered_after_it(client: Client, how: str) -> None:
    async def call(session: str) -> tuple[Any, Any]:
        said = await bring_to_the_yes(client, session)
        first = client.chat(session, *said, "yes, please renew it", stream=True)
        assert await first.piece() is not None, "it asks for patience: the write is on its way"
        board = board_of(client, session)
        assert board.live.wrote
        assert not board.desk.writes
        if how == "leaves":
            await first.leave()
        answer = await client.chat(session, *said, "yes, please renew it, what was my excess again").whole()
        return board, answer

    board, answer = client.run(call(client.session()))
    assert len(board.desk.writes) == 1
    assert "renew_policy" in board.desk.done, "the call knows what it did"
    assert board.desk.outcome == "success"
    assert [turn.action for turn in board.turns].count("renew_policy") == 1
    assert answer["cuecard"]["action"] != "confirm_renewal"

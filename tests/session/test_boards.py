"""Boards of a graph server's runs go when they lie idle, and the call loses nothing by it."""

from typing import Any

from cuecard.blackboard import Board
from cuecard.boards import KEPT, SETTLED_S, Boards
from cuecard.clock import run_virtual
from cuecard.context import Context
from cuecard.prefetch.flight import SessionId
from cuecard.session import Engine
from cuecard.settings import Settings
from nodes.trigger import responder_thread


async def run_turn(engine: Engine, name: str, words: str) -> Board:
    """A turn as a graph server takes it: nobody holds the session."""
    config: Any = {"configurable": {"thread_id": responder_thread("default", name)}}
    context = Context(procedure="insurance_renewal", session_id=name)
    await engine.responder.ainvoke({"utterance": words}, config, context=context, durability="exit")
    await engine.trigger.settle("default", name)
    board = engine.services.known_board("default", name)
    assert board is not None
    return board


def test_an_idle_board_goes_and_the_call_goes_on_where_it_was(settings: Settings) -> None:
    async def scene() -> None:
        async with Engine.open(settings, persist=False) as engine:
            first = await run_turn(engine, "left", "hello, policy 343705, born 8 January 1942")
            await engine.services.clock.sleep(settings.session_idle_s + 1.0)
            await engine.session("insurance_renewal", session_id="another")
            assert engine.services.known_board("default", "left") is None
            again = await run_turn(engine, "left", "about nine thousand miles a year")
            assert again is not first
            assert again.turn == 2
            assert first.desk.facts.items() <= again.desk.facts.items()
            assert {item.id for item in first.pool.items if item.pinned} <= {item.id for item in again.pool.items}

    run_virtual(scene())


def test_a_session_keeps_its_board_however_long_it_is_silent(settings: Settings) -> None:
    async def scene() -> None:
        async with Engine.open(settings, persist=False) as engine:
            session = await engine.session("insurance_renewal", session_id="held")
            await engine.services.clock.sleep(10.0 * settings.session_idle_s)
            await run_turn(engine, "another", "hello there")
            assert engine.services.known_board("default", "held") is session.board

    run_virtual(scene())


def test_of_too_many_boards_the_longest_unused_go_but_none_that_may_be_at_work() -> None:
    boards = Boards()
    there: list[Any] = [object() for _ in range(KEPT + 2)]
    for n, board in enumerate(there):
        boards.add(SessionId("default", str(n)), board, now_s=0.0)
    boards.get(SessionId("default", "0"), now_s=1.0)
    assert boards.idle(SETTLED_S - 1.0, 900.0) == []
    assert boards.idle(SETTLED_S, 900.0) == there[1:3]

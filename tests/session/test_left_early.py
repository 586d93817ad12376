"""Who leaves a reply early hears no more of it; what was written by then stays in the books."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from cuecard.session import Engine, Session
from cuecard.settings import Settings
from tests.session import returns
from tests.session.returns import TO_THE_YES, YES, write_returns


@pytest.fixture(autouse=True)
def _no_writes() -> None:
    returns.WRITTEN.clear()


async def to_the_yes(engine: Engine, procedure: Path) -> Session:
    session = await engine.session(str(procedure), session_id="the-call")
    for words in TO_THE_YES:
        reply = await session.ask(words)
    assert reply.action == "confirm_return"
    return session


async def break_out(session: Session) -> None:
    async for _ in session.say(YES):
        break


async def close(session: Session) -> None:
    async with aclosing(session.say(YES)) as pieces:  # type: ignore[type-var]
        await anext(pieces)


async def at_the_reply(session: Session) -> None:
    n_pieces = 0
    async for _ in session.say(YES):
        n_pieces += 1
        if n_pieces == 2:
            break


async def cancelled(session: Session) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(returns.WRITE_S / 2):
            await session.ask(YES)


@pytest.mark.parametrize("leave", [break_out, close, at_the_reply, cancelled])
def test_a_write_that_has_left_is_booked_and_the_resumed_call_knows_of_it(tmp_path: Path, leave: object) -> None:
    procedure = write_returns(tmp_path)

    async def first_life() -> None:
        async with Engine.open(Settings(data_dir=tmp_path / "data")) as engine:
            session = await to_the_yes(engine, procedure)
            await leave(session)  # type: ignore[operator]

    async def second_life() -> None:
        async with Engine.open(Settings(data_dir=tmp_path / "data")) as engine:
            session = await engine.session(str(procedure), session_id="the-call")
            said = [message["content"] for message in await session.history()]
            assert said[-2:] == [YES, "Booked, reference RT-77. Is there anything else?"]
            reply = await session.ask("yes please")
            assert "book_return" in session.board.desk.done
            assert session.board.desk.outcome == "success"
            assert reply.action == "close_call", "neither asked for nor done again"

    asyncio.run(first_life())
    assert returns.WRITTEN == ["440192"]
    asyncio.run(second_life())
    assert returns.WRITTEN == ["440192"]


def test_the_next_turn_of_the_same_process_comes_after_the_write(tmp_path: Path) -> None:
    procedure = write_returns(tmp_path)

    async def call() -> None:
        async with Engine.open(Settings(data_dir=tmp_path / "data")) as engine:
            session = await to_the_yes(engine, procedure)
            await break_out(session)
            reply = await session.ask("how do I send something back")
            assert [turn.action for turn in session.board.turns[-2:]] == ["book_return", reply.action]
            await session.hang_up()
            assert session.board.desk.outcome == "success"

    asyncio.run(call())
    assert returns.WRITTEN == ["440192"]


def test_who_hangs_up_in_the_middle_of_the_write_has_made_it(tmp_path: Path) -> None:
    procedure = write_returns(tmp_path)

    async def call() -> None:
        async with Engine.open(Settings(data_dir=tmp_path / "data")) as engine:
            session = await to_the_yes(engine, procedure)
            async for _ in session.say(YES):
                await session.hang_up()
            assert session.board.desk.outcome == "success"

    asyncio.run(call())
    assert returns.WRITTEN == ["440192"]


def test_a_turn_that_wrote_nothing_does_not_count_however_long_its_reply_was_listened_to(tmp_path: Path) -> None:
    procedure = write_returns(tmp_path)

    async def call() -> None:
        async with Engine.open(Settings(data_dir=tmp_path / "data")) as engine:
            session = await engine.session(str(procedure), session_id="the-call")
            async with aclosing(session.say("hello, where's my order")) as pieces:  # type: ignore[type-var]
                assert await anext(pieces)
                await asyncio.sleep(0.2)
            assert await session.history() == []

    asyncio.run(call())


def test_a_write_that_has_not_left_when_the_turn_is_dropped_does_not_leave(tmp_path: Path) -> None:
    procedure = write_returns(tmp_path)

    async def call() -> None:
        async with Engine.open(Settings(data_dir=tmp_path / "data")) as engine:
            session = await to_the_yes(engine, procedure)
            before = session.board.live
            turn = asyncio.create_task(session.ask(YES))
            while session.board.live is before:  # noqa: ASYNC110 - the very next step of the turn is meant
                await asyncio.sleep(0)
            # As if the cancellation were under way while the turn takes its last step before the write.
            session.board.live.dropped = True
            assert "could not book" in (await turn).text
            assert not session.board.desk.writes

    asyncio.run(call())
    assert returns.WRITTEN == []

"""Words that a platform takes back are not what is learned from the call."""

import asyncio
from contextlib import aclosing
from pathlib import Path

from sqlalchemy import select

from cuecard.precedents.engine import reading
from cuecard.precedents.schema import words
from cuecard.session import Engine, Session
from cuecard.settings import Settings
from tests.session.returns import write_returns

FIRST, THEN = "where is my pizzicato order", "where is my order and can a neighbour take it"


async def instead(session: Session, said: str) -> None:
    async with session.order(), aclosing(session.speak(said, instead_of=session.board.turn)) as pieces:
        async for _ in pieces:
            pass


async def kept(engine: Engine) -> list[str]:
    store = engine.services.precedents
    assert store is not None
    await store.flush()
    with reading(store._reader.engine) as connection:
        return list(connection.execute(select(words.c.utterance).order_by(words.c.turn)).scalars())


def test_after_its_pass_a_turn_taken_back_is_replaced_as_a_precedent(tmp_path: Path) -> None:
    procedure = write_returns(tmp_path)

    async def call() -> None:
        async with Engine.open(Settings(data_dir=tmp_path / "data")) as engine:
            session = await engine.session(str(procedure), session_id="s")
            await session.ask("hello")
            await session.ask(FIRST)
            await session.settle()
            assert await kept(engine) == ["hello", FIRST]
            await instead(session, THEN)
            await session.settle()
            assert await kept(engine) == ["hello", THEN]

    asyncio.run(call())


def test_a_process_that_takes_back_what_another_has_kept_replaces_it(tmp_path: Path) -> None:
    procedure = write_returns(tmp_path)

    async def one() -> None:
        async with Engine.open(Settings(data_dir=tmp_path / "data")) as engine:
            session = await engine.session(str(procedure), session_id="s")
            await session.ask(FIRST)
            await session.settle()

    async def other() -> None:
        async with Engine.open(Settings(data_dir=tmp_path / "data")) as engine:
            session = await engine.session(str(procedure), session_id="s")
            await session.refresh()
            await instead(session, THEN)
            await session.settle()
            assert await kept(engine) == [THEN]

    asyncio.run(one())
    asyncio.run(other())

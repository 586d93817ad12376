"""How a call ended is kept with its turns, the closing one among them."""

import asyncio
import sqlite3
from contextlib import aclosing
from pathlib import Path

import pytest

from cuecard.clock import run_virtual
from cuecard.errors import StorageError
from cuecard.events import SessionEnded
from cuecard.server import gateway as gateways
from cuecard.server.gateway import Gateway
from cuecard.session import Engine
from cuecard.settings import Settings

RENEWAL = (
    "hi, it's policy 343705 and I was born on 8 January 1942",
    "about nine thousand miles a year",
    "yes that sounds fine, let's go ahead",
    "monthly please",
    "yes, please renew it",
    "no that's all, thank you, bye",
)


def kept(folder: Path) -> list[tuple[str, str, int]]:
    """(session, outcome, turns) of every call among the precedents."""
    connection = sqlite3.connect(folder / "precedents.sqlite")
    try:
        return connection.execute(
            "SELECT s.name, s.outcome, count(*) FROM precedent_sessions s"
            " JOIN precedent_turns t ON t.session_id = s.id GROUP BY s.name, s.outcome ORDER BY s.name"
        ).fetchall()
    finally:
        connection.close()


def test_the_closing_turn_is_a_precedent_and_the_outcome_of_every_call_is_known(settings: Settings) -> None:
    async def calls() -> None:
        async with Engine.open(settings) as engine:
            whole = await engine.session("insurance_renewal", session_id="whole")
            for words in RENEWAL:
                await whole.ask(words)
            assert whole.reply.ended
            await whole.hang_up()
            broken_off = await engine.session("insurance_renewal", session_id="broken off")
            await broken_off.ask(RENEWAL[0])
            await broken_off.hang_up()

    run_virtual(calls())
    assert kept(settings.data_dir) == [("broken off", "abandoned", 1), ("whole", "success", len(RENEWAL))]


def test_a_call_that_went_on_elsewhere_is_let_go_without_being_ended(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def calls() -> None:
        gateway = Gateway(settings, persist=False)
        try:
            moved, still = [await gateway.call("acme", name, "insurance_renewal") for name in ("moved", "still")]

            async def finds_a_turn_of_another_process() -> None:
                moved.session.board.committed += 1

            monkeypatch.setattr(moved.session, "refresh", finds_a_turn_of_another_process)
            for who, call in [*gateway.calls.items()]:
                await gateway._end(who, gateway._let_go(call))
            assert not gateway.calls
            assert not [*moved.session.log.of(SessionEnded)]
            assert len([*still.session.log.of(SessionEnded)]) == 1
        finally:
            await gateway.aclose()

    run_virtual(calls())


def test_one_call_that_cannot_be_hung_up_does_not_keep_the_others(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateways, "REAP_EVERY_S", 0.01)
    settings = settings.model_copy(update={"session_idle_s": 0.0})

    async def calls() -> None:
        gateway = Gateway(settings, persist=False)
        try:
            first = await gateway.call("acme", "first", "insurance_renewal")

            async def fails() -> None:
                raise StorageError("the database is away")

            monkeypatch.setattr(first.session, "refresh", fails)
            await gateway.call("acme", "second", "insurance_renewal")

            await asyncio.sleep(1.0)
            assert [who.session for who in gateway.calls] == ["first"]
        finally:
            await gateway.aclose()

    run_virtual(calls())


@pytest.mark.parametrize("persist", [False, True])
def test_a_turn_that_was_cut_off_leaves_none_of_its_facts_behind(settings: Settings, persist: bool) -> None:
    async def call() -> None:
        async with Engine.open(settings, persist=persist) as engine:
            session = await engine.session("insurance_renewal")
            await session.ask("hello there")
            async with aclosing(session.say(RENEWAL[0])) as pieces:  # type: ignore[type-var]
                async for _ in pieces:
                    break
            assert (await session.past()).desk["facts"] == {}
            await session.ask("what a lovely day")
            assert session.board.desk.facts == {}

    run_virtual(call())

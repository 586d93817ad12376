"""What people really send: nothing, too much, junk; and what really breaks: folders, databases, sources."""

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from cuecard.clock import run_virtual
from cuecard.errors import StorageError, UtteranceError
from cuecard.events import Degraded, Heard
from cuecard.prefetch.types import FetchCall, FetchResult
from cuecard.session import Engine, Session
from cuecard.settings import Settings
from sops import ProcedureNotFound

KNOWN = "policy 343705, born 8 January 1942"


def test_an_unknown_procedure_is_named_with_those_there_are(settings: Settings) -> None:
    async def call() -> None:
        async with Engine.open(settings, persist=False) as engine:
            await engine.session("boat_renewal")

    with pytest.raises(ProcedureNotFound, match="insurance_renewal"):
        run_virtual(call())


def test_odd_words_are_taken_or_refused_and_the_call_goes_on(settings: Settings) -> None:
    async def call() -> Session:
        async with Engine.open(settings, persist=False) as engine:
            session = await engine.session("insurance_renewal")
            await session.greet()
            for nothing in ("", "   ", "\x00\x07"):
                with pytest.raises(UtteranceError):
                    await session.ask(nothing)
            await session.ask("what a \x1b[31mlovely\x00 day {policy.holder} %s {0.__class__}")
            await session.ask("blah " * 20_000)
            reply = await session.ask(KNOWN)
            assert reply.action == "review_policy"
            return session

    heard = [event for event in run_virtual(call()).log.events if isinstance(event, Heard)]
    assert heard[0].text == "what a [31mlovely day {policy.holder} %s {0.__class__}"
    assert heard[1].cut
    assert len(heard[1].text) <= 4000


class _Broken:
    def __init__(self, act: Callable[[], object]) -> None:
        self.act = act

    async def fetch(self, call: FetchCall) -> FetchResult:
        result = self.act()
        if isinstance(result, float):
            await asyncio.sleep(result)
        return result  # type: ignore[return-value]


def _raise() -> object:
    raise ValueError("the back office is on fire")


@pytest.mark.parametrize("act", [_raise, lambda: 3600.0, lambda: "junk"], ids=["raises", "hangs", "junk"])
def test_a_source_that_fails_costs_the_caller_one_wait_and_never_the_call(
    settings: Settings, act: Callable[[], object]
) -> None:
    async def call() -> tuple[str, list[str], float]:
        async with Engine.open(settings, persist=False) as engine:
            session = await engine.session("insurance_renewal")
            await session.ask(KNOWN)
            attempts = session.board.kit.broker._attempts
            attempts._fetchers = dict(attempts._fetchers) | {"table": _Broken(act)}
            reply = await session.ask("nine thousand miles a year")
            return (
                reply.text,
                [event.part for event in session.log.events if isinstance(event, Degraded)],
                reply.stall_s,
            )

    text, parts, stall_s = run_virtual(call())
    assert text == (
        "I have no price for you yet, as our quote system is not answering. Shall we carry on, and I'll try it again "
        "before we finish?"
    )
    assert "quote" in parts
    assert stall_s <= 15.5


def test_a_data_folder_that_cannot_be_made_says_what_to_do(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("not a folder")

    async def call() -> None:
        async with Engine.open(Settings(data_dir=blocker / "data")):
            pass

    with pytest.raises(StorageError, match="CUECARD_DATA_DIR"):
        asyncio.run(call())


def test_a_locked_database_is_an_error_with_a_remedy_and_not_a_hang(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    holder = sqlite3.connect(folder / "calls.sqlite", isolation_level=None)
    holder.execute("CREATE TABLE t (x)")
    holder.execute("BEGIN EXCLUSIVE")

    async def call() -> None:
        async with Engine.open(Settings(data_dir=folder)):
            pass

    try:
        with pytest.raises(StorageError, match="locked"):
            asyncio.run(asyncio.wait_for(call(), 60))
    finally:
        holder.close()

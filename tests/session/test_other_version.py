"""A call that is taken up after its procedure was changed goes on safely, and says what it lost."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from cuecard.events import Degraded
from cuecard.other_version import carry_over, mark_of
from cuecard.policy import Desk
from cuecard.session import Engine, Session
from cuecard.settings import Settings
from sops.loader import load_procedure
from tests.session import returns
from tests.session.returns import TO_THE_YES, YES, write_returns


@pytest.fixture(autouse=True)
def _no_writes() -> None:
    returns.WRITTEN.clear()


def renamed(text: str) -> str:
    """Another flow under the same version number: a step and a fact have other names, the order is found by it."""
    text = text.replace("tell_status", "say_where").replace("order_number", "parcel_number")
    return text.replace("opens:", "begins:").replace("(parcel_number: str)", "")


def told(session: Session) -> list[str]:
    return [
        event.reason for event in session.log.of(Degraded) if isinstance(event, Degraded) and event.part == "procedure"
    ]


def lives(folder: Path, procedure: Path, change: Callable[[str], str], after: Callable[[Session], object]) -> None:
    """A call up to its yes; then the process ends, the file changes, and another process takes the call up."""
    settings = Settings(data_dir=folder / "data")

    async def first() -> None:
        async with Engine.open(settings) as engine:
            session = await engine.session(str(procedure), session_id="the-call")
            for words in TO_THE_YES:
                reply = await session.ask(words)
            await session.settle()
            assert reply.action == "confirm_return"

    async def second() -> None:
        async with Engine.open(settings) as engine:
            session = await engine.session(str(procedure), session_id="the-call")
            await after(session)  # type: ignore[misc]
            await session.settle()

    asyncio.run(first())
    procedure.write_text(change(procedure.read_text(encoding="utf-8")), encoding="utf-8")
    asyncio.run(second())


def test_a_yes_given_under_the_other_version_writes_nothing_and_is_asked_for_again(tmp_path: Path) -> None:
    async def after(session: Session) -> None:
        reply = await session.ask(YES)
        assert returns.WRITTEN == []
        assert reply.action == "confirm_return"
        assert session.board.desk.verified, "proven again by the fact that is still known"
        assert (await session.ask(YES)).action == "book_return"
        (once,) = told(session)
        assert once.startswith("the call began on version 1 and goes on under 2-")
        assert once.endswith("nothing of the call was lost")

    lives(tmp_path, write_returns(tmp_path), lambda text: text.replace("title:", "version: 2\ntitle:"), after)
    assert returns.WRITTEN == ["440192"]


def test_steps_and_facts_that_are_gone_are_named_and_the_call_goes_on_without_them(tmp_path: Path) -> None:
    async def after(session: Session) -> None:
        reply = await session.ask(YES)
        assert returns.WRITTEN == []
        assert reply.text
        (once,) = told(session)
        assert "step tell_status" in once
        assert "fact order_number" in once
        assert session.board.desk.facts == {}
        assert (await session.ask("it's 440 192")).action in session.board.kit.procedure.actions

    lives(tmp_path, write_returns(tmp_path), renamed, after)


def test_an_unchanged_procedure_is_the_same_version_wherever_it_lies(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    marks = {mark_of(load_procedure(write_returns(folder))) for folder in (one, other)}
    assert len(marks) == 1
    path = other / "returns.yaml"
    path.write_text(
        path.read_text(encoding="utf-8").replace("      - hello\n", "      - hello\n      - ahoy\n"), "utf-8"
    )
    assert mark_of(load_procedure(path)) in marks, "an example more trains the ear and changes no call"
    path.write_text(path.read_text(encoding="utf-8").replace("Shall I?", "Is that right?"), "utf-8")
    assert mark_of(load_procedure(path)) not in marks


def test_the_process_that_began_a_call_ends_it_on_the_version_that_it_loaded(tmp_path: Path) -> None:
    procedure = write_returns(tmp_path)

    async def call() -> None:
        async with Engine.open(Settings(data_dir=tmp_path / "data")) as engine:
            session = await engine.session(str(procedure), session_id="the-call")
            for words in TO_THE_YES:
                await session.ask(words)
            await session.let_go()
            procedure.write_text(renamed(procedure.read_text(encoding="utf-8")), encoding="utf-8")
            again = await engine.session(str(procedure), session_id="the-call")
            assert (await again.ask(YES)).action == "book_return"
            assert told(again) == []

    asyncio.run(call())
    assert returns.WRITTEN == ["440192"]


def test_a_call_of_the_same_version_keeps_its_confirmation(tmp_path: Path) -> None:
    async def after(session: Session) -> None:
        assert (await session.ask(YES)).action == "book_return"
        assert told(session) == []

    lives(tmp_path, write_returns(tmp_path), str, after)


def test_renamed_steps_and_values_that_are_no_longer_offered_are_carried_over_or_dropped() -> None:
    procedure = load_procedure("insurance_renewal")
    procedure = procedure.model_copy(update={"aliases": {"tell_price": "present_quote"}})
    chosen = next(
        name for name, fact in procedure.facts.items() if fact.choices and not fact.patterns and not fact.after
    )
    desk = Desk(done=["tell_price", "dance"], last_action="tell_price", facts={chosen: "in pebbles"}, verified=True)
    assert carry_over(procedure, desk) == ["step dance", f"fact {chosen}"]
    assert (desk.done, desk.last_action, desk.facts, desk.verified) == (["present_quote"], "present_quote", {}, False)

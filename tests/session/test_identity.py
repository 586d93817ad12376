"""Nothing about a person before, or after, it is sure who calls: not on half-heard words, nor from an earlier fetch."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from cuecard.clock import run_virtual
from cuecard.prefetch.events import FetchStarted
from cuecard.prefetch.types import FetchCall, FetchResult, Record
from cuecard.session import Engine, Session
from cuecard.settings import Settings

CALLER = "hi, it's policy 343705 and I was born on 8 January 1942"


def personal(session: Session) -> set[tuple[str, str]]:
    """(dependency, arguments) of every item in the pool that only a verified caller may have."""
    declared = session.board.kit.procedure.dependencies
    return {(item.dep, item.args) for item in session.board.pool.items if declared[item.dep].verified}


async def verified_call(engine: Engine) -> Session:
    session = await engine.session("insurance_renewal")
    await session.ask(CALLER)
    await asyncio.sleep(8.0)
    assert session.board.desk.verified
    assert personal(session)
    return session


def test_another_policy_number_in_half_a_sentence_fetches_nothing_personal(settings: Settings) -> None:
    async def call() -> None:
        async with Engine.open(settings, persist=False) as engine:
            session = await verified_call(engine)
            n_before = len(session.log.events)
            await session.hear("no sorry my policy number is 303513")
            await asyncio.sleep(8.0)
            started = [event for event in session.log.events[n_before:] if isinstance(event, FetchStarted)]
            assert {event.dep for event in started} == {"identity"}, "only what proves identity"
            await session.ask("no sorry, nothing")
            assert not [item for item in session.board.pool.items if "303513" in item.args]
            assert not [pick for pick in session.board.live.picks if "303513" in pick.item.args]

    run_virtual(call())


def test_a_corrected_birthday_that_the_record_does_not_bear_out_puts_the_records_away(settings: Settings) -> None:
    async def call() -> None:
        async with Engine.open(settings, persist=False) as engine:
            session = await verified_call(engine)
            await session.ask("no wait, my date of birth is 9 January 1942, you have it wrong")
            assert not session.board.desk.verified
            assert not personal(session)
            assert not [pick for pick in session.board.live.picks if pick.item.dep not in {"identity", "clauses"}]
            await asyncio.sleep(8.0)
            assert not personal(session), "what was under way is not kept either"

    run_virtual(call())


def test_a_verified_turn_that_was_cut_off_leaves_no_record_to_the_next_caller(settings: Settings) -> None:
    async def call() -> None:
        async with Engine.open(settings, persist=False) as engine:
            session = await engine.session("insurance_renewal")
            await session.ask("hello there")
            async with aclosing(session.say(CALLER)) as pieces:  # type: ignore[type-var]
                async for piece in pieces:
                    if "Peel" in piece:
                        break
            await asyncio.sleep(8.0)
            await session.ask("what a lovely day")
            assert not session.board.desk.verified
            assert not personal(session)

    run_virtual(call())


def test_a_half_heard_amount_is_laid_before_nobody_once_another_was_meant(settings: Settings) -> None:
    async def call() -> None:
        async with Engine.open(settings, persist=False) as engine:
            session = await verified_call(engine)
            await session.hear("about nine hundred miles")
            await asyncio.sleep(8.0)
            await session.ask("about nine thousand miles a year")
            quoted = {item.args for item in session.board.pool.items if item.dep == "quote"}
            assert all('"annual_mileage":"9000"' in args for args in quoted)

    run_virtual(call())


class Register:
    """A register whose records can be told what to hold."""

    def __init__(self, record: dict[str, Any]) -> None:
        self.record = record

    async def fetch(self, call: FetchCall) -> FetchResult:
        return FetchResult((Record("found", self.record),))


@pytest.mark.parametrize(
    ("record", "verified"),
    [
        ({"date_of_birth": "8 January 1942", "name": "Gordon Peel"}, True),
        ({"date_of_birth": "9 January 1942"}, False),
        ({"date_of_birth": None}, False),
        ({"name": "Gordon Peel"}, False),
        ({}, False),
    ],
)
def test_identity_is_verified_only_by_a_record_that_holds_what_was_said(
    settings: Settings, record: dict[str, Any], verified: bool
) -> None:
    async def call() -> None:
        async with Engine.open(settings, persist=False) as engine:
            kit = await engine.services.kit("insurance_renewal")
            kit.broker._attempts._fetchers = {"table": Register(record)}
            session = await engine.session("insurance_renewal")
            await session.ask(CALLER)
            assert session.board.desk.verified is verified

    run_virtual(call())

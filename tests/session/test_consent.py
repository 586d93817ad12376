"""A write needs a clear yes: one that is taken back, tied to something or asked in the same breath is asked again."""

import asyncio

import pytest

from cuecard.clock import run_virtual
from cuecard.policy.consent import unclear
from cuecard.prefetch.events import FetchStarted
from cuecard.session import Engine
from cuecard.settings import Settings

TO_THE_YES = (
    "hi, it's policy 343705 and I was born on 8 January 1942",
    "about nine thousand miles a year",
    "yes that sounds fine, let's go ahead",
    "monthly please",
)


@pytest.mark.parametrize(
    "words",
    [
        "yes",
        "yes please, no problem",
        "uh huh, do it",
        "yes, that's what I want",
        "sure, whenever you're ready",
        "yes if you could please",
        "yeah, why not",
        "go ahead, I don't mind",
    ],
)
def test_a_plain_yes_is_clear(words: str) -> None:
    assert not unclear(words)


@pytest.mark.parametrize(
    "words",
    [
        "yes well actually no",
        "yes I understand but I want to think about it",
        "yes if it includes breakdown cover",
        "ok so what happens next",
        "okay, is it eighty pounds?",
        "yes, but change it to annual",
        "I guess",
        "yeah don\u2019t",
    ],
)
def test_a_yes_with_something_against_it_is_not(words: str) -> None:
    assert unclear(words)


def test_nothing_is_written_on_an_unclear_yes_and_everything_on_the_clear_one_after_it(settings: Settings) -> None:
    async def call() -> None:
        async with Engine.open(settings, persist=False) as engine:
            session = await engine.session("insurance_renewal")
            for words in TO_THE_YES:
                await session.ask(words)
                await asyncio.sleep(8.0)
            assert session.reply.action == "confirm_renewal"
            reply = await session.ask("yes I understand but I want to think about it")
            assert reply.action != "renew_policy"
            assert not session.board.desk.writes
            while reply.action != "confirm_renewal":
                reply = await session.ask("okay, let's carry on with the renewal")
            assert (await session.ask("yes please")).action == "renew_policy"
            assert len(session.board.desk.writes) == 1
            assert not [event for event in session.log.of(FetchStarted) if event.dep == "renewal"]  # type: ignore[attr-defined]

    run_virtual(call())

"""What the agent says, claims and gives as a reason when the data is not there or does not concern the caller."""

from pathlib import Path

import pytest

from cuecard.clock import run_virtual
from cuecard.events import NeedResolved, Spoke
from cuecard.prefetch.events import FetchEnded
from cuecard.session import Engine
from cuecard.settings import Settings
from sops.starter import write_starter

KNOWN = "it's policy 343705 and I was born on 8 January 1942"


def test_a_call_whose_lookup_failed_is_no_success(settings: Settings, tmp_path: Path) -> None:
    path = write_starter("my_shop", tmp_path)[0]
    text = path.read_text(encoding="utf-8")
    assert "fetch: {type: table" in text
    start = text.index("fetch: {type: table")
    broken = text[:start] + 'fetch: {type: python, target: "json:nosuch"}' + text[text.index("}", start) + 1 :]
    path.write_text(broken, encoding="utf-8")

    async def call() -> str:
        async with Engine.open(settings, persist=False) as engine:
            session = await engine.session(str(path))
            for words in ("hello", "it's 337125", "bye"):
                await session.ask(words)
            return session.board.desk.outcome

    assert run_virtual(call()) != "success"


@pytest.mark.parametrize(
    ("words", "quoted"),
    [
        ("one sec i'm fetching my reading glasses to look it up", False),
        ("i'm scared of being hit by somebody who has no insurance", True),
    ],
)
def test_a_passage_is_quoted_only_to_a_worry_that_it_concerns(settings: Settings, words: str, quoted: bool) -> None:
    async def call() -> str:
        async with Engine.open(settings, persist=False) as engine:
            session = await engine.session("insurance_renewal")
            await session.ask(KNOWN)
            await session.ask(words)
            (spoke,) = [event for event in session.log.events if isinstance(event, Spoke)][-1:]
            assert spoke.action == "reassure"
            return spoke.text

    assert ("guide says" in run_virtual(call())) is quoted


def test_a_need_for_a_fact_just_told_says_so(settings: Settings) -> None:
    async def call() -> dict[str, str]:
        async with Engine.open(settings, persist=False) as engine:
            session = await engine.session("insurance_renewal")
            await session.ask(KNOWN)
            return {event.dep: event.reason for event in session.log.events if isinstance(event, NeedResolved)}

    reasons = run_virtual(call())
    assert "policy_number was only just told" in reasons.values()


def test_a_source_slower_than_declared_is_planned_for_as_slow(settings: Settings) -> None:
    async def call() -> tuple[float, float]:
        async with Engine.open(settings, persist=True) as engine:
            session = await engine.session("insurance_renewal")
            declared = session.board.kit.procedure.dependencies["policy"].latency_s
            for _ in range(20):
                event = FetchEnded(dep="policy", key="{}", how="landed", took_s=declared + 5.0, background=True)
                session.log.emit(event)
            planner = engine.services.minds.planner(session.board)
            return declared, planner.scheduler.latencies_s["policy"]  # type: ignore[attr-defined]

    declared, learned = run_virtual(call())
    assert learned == pytest.approx(declared + 5.0, abs=0.2)

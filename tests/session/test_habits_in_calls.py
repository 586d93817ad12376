"""Real calls are planned by the habits of past ones too: of the same tenant, and nothing personal too early."""

import time
from dataclasses import replace

from cuecard.blackboard import Board
from cuecard.clock import run_virtual
from cuecard.context import Context
from cuecard.habitual import ByHabits
from cuecard.planning import ByValue
from cuecard.precedents import Precedent
from cuecard.predictors.types import Forecast
from cuecard.prefetch.scheduler import Decision
from cuecard.session import Engine, Session
from cuecard.settings import Settings
from cuecard.taught import MINIMUM

SOP = "insurance_renewal"
KNOWN = "it's policy 343705 and I was born on 8 January 1942"
QUESTION = "is a chipped windscreen covered?"
STEPS = (
    "verify_identity",
    "review_policy",
    "answer_question",
    "present_quote",
    "ease_price",
    "choose_payment",
    "confirm_renewal",
    "renew_policy",
    "close_call",
)


async def remember(engine: Engine, n_calls: int, tenant: str) -> None:
    """That many calls in which a question about glass follows the review of the policy."""
    store = engine.services.precedents
    assert store is not None
    asked = engine.services.embedder.embed([QUESTION])[0]
    # Yesterday: what is past its keep-by date teaches nothing.
    yesterday = time.time() - 86_400.0
    for call in range(n_calls):
        turns = []
        for number, step in enumerate(STEPS):
            asks = step == "answer_question"
            turn = Precedent(tenant, f"past{call}", number, SOP, step, at=yesterday + 10.0 * number, utterance="go on")
            if asks:
                turn = replace(turn, utterance=QUESTION, question=True, topic="glass", embedding=asked)
            turns.append(turn)
        await store.record(turns)
        await store.set_outcome(tenant, f"past{call}", "success")
    await store.flush()


async def called(engine: Engine, *words: str) -> Session:
    session = await engine.session(SOP, context=Context(tenant="acme"))
    for said in words:
        await session.ask(said)
        await session.settle()
    return session


def planned(
    settings: Settings, n_calls: int, *words: str, tenant: str = "acme"
) -> tuple[list[Decision], list[Decision]]:
    """What is planned once these words were said and past calls are known; and what without habits."""

    async def call() -> tuple[list[Decision], list[Decision]]:
        async with Engine.open(settings) as engine:
            await remember(engine, n_calls, tenant)
            board = (await called(engine, *words)).board
            empty(board)
            planner = engine.services.minds.planner(board)
            assert isinstance(planner, ByHabits)
            without = ByValue(board.kit.procedure)
            without.scheduler.latencies_s = dict(planner.scheduler.latencies_s)
            return planner.plan(board), without.plan(board)

    return run_virtual(call())


def empty(board: Board) -> None:
    """Nothing lies ready, no broad search will bring it, and the forecast knows of nothing."""
    board.kit = replace(board.kit, contents={})
    board.pool.remove(lambda _: True)
    board.forecast = Forecast()


def habits(decisions: list[Decision]) -> list[Decision]:
    return [decision for decision in decisions if decision.reason.startswith("habit: ")]


def test_a_question_that_callers_ask_after_a_step_is_fetched_after_that_step(settings: Settings) -> None:
    decisions, without = planned(settings, 40, "hello", KNOWN)
    (found,) = [one for one in habits(decisions) if one.key.dep == "clauses"]
    assert found.what == "fetch"
    assert found.job is not None
    assert found.job.call.query == QUESTION
    assert "clauses" not in {decision.key.dep for decision in without}


def test_what_the_forecast_wants_is_wanted_with_habits_too(settings: Settings) -> None:
    decisions, without = planned(settings, 40, "hello", KNOWN)
    wanted = [one for one in without if one.what in ("fetch", "refresh")]
    assert wanted
    assert [one for one in decisions if one in wanted] == wanted
    keys = [one.key for one in decisions]
    assert len(keys) == len(set(keys))


def test_records_come_early_once_identity_is_verified_and_never_before(settings: Settings) -> None:
    before, _ = planned(settings, 40, "hello")
    specs = [one.job.call.spec for one in habits(before) if one.job is not None]
    assert specs
    assert not any(spec.verified or spec.kind != "rag" for spec in specs)
    after, _ = planned(settings, 40, "hello", KNOWN)
    assert {one.key.dep for one in habits(after)} - {"clauses"}


def test_another_tenants_calls_teach_nothing(settings: Settings) -> None:
    decisions, without = planned(settings, 40, "hello", KNOWN, tenant="other")
    assert decisions == without


def test_fewer_calls_than_the_minimum_change_nothing(settings: Settings) -> None:
    decisions, without = planned(settings, MINIMUM - 2, "hello", KNOWN)
    assert decisions == without


def test_where_nothing_is_kept_the_forecast_alone_decides(settings: Settings) -> None:
    async def call() -> object:
        async with Engine.open(settings, persist=False) as engine:
            session = await engine.session(SOP)
            return engine.services.minds.planner(session.board)

    assert type(run_virtual(call())) is ByValue

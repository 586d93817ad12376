"""The promise of the two graphs: the fast one never waits for the slow one, and only the newest pass counts."""

import asyncio
from typing import Any

import pytest

from cuecard.blackboard import Board, namespace
from cuecard.clock import run_virtual
from cuecard.context import Context
from cuecard.events import NeedResolved, PassEnded
from cuecard.planning import ByValue
from cuecard.predictors.types import Vector
from cuecard.prefetch.scheduler import Decision
from cuecard.prefetch.types import FetchJob
from cuecard.session import Engine, Session
from cuecard.session.memory import LatestOnlySaver
from cuecard.settings import Settings
from graphs import supervisor
from nodes.state import SupervisorState
from nodes.trigger import LocalTrigger
from tests.fakes import fake_provider, with_model

CALLER = ("343705", "8 January 1942")


class Watching(ByValue):
    """The real planner, noting for which turns it was asked."""

    def __init__(self, inner: ByValue) -> None:
        self.inner = inner
        self.turns: list[int] = []

    def plan(self, board: Board) -> list[Decision]:
        self.turns.append(board.turn)
        return self.inner.plan(board)

    def on_partial(self, board: Board, words: str, vector: Vector | None, facts: dict[str, str]) -> list[FetchJob]:
        return self.inner.on_partial(board, words, vector, facts)


async def _slow_pass(state: SupervisorState) -> SupervisorState:
    await asyncio.sleep(6.0)
    return {}


def slow_engine(engine: Engine) -> Engine:
    """The same engine, whose supervisor sleeps six seconds before it classifies."""
    graph = supervisor.build(engine.services)
    graph.edges.remove(("__start__", "classify"))
    graph.add_node("sleep", _slow_pass)
    graph.add_edge("__start__", "sleep")
    graph.add_edge("sleep", "classify")
    engine.trigger = LocalTrigger(graph.compile(checkpointer=LatestOnlySaver(), store=engine.store), engine.services)
    engine.services.trigger = engine.trigger
    return engine


async def verified(engine: Engine, name: str = "s") -> Session:
    session = await engine.session("insurance_renewal", session_id=name)
    await session.greet()
    await session.ask(f"hi, it's policy {CALLER[0]} and I was born on {CALLER[1]}")
    assert session.board.desk.verified
    return session


def test_a_reply_is_not_delayed_by_a_supervisor_that_takes_six_seconds(settings: Settings) -> None:
    async def call() -> list[float]:
        async with Engine.open(settings, persist=False) as engine:
            session = await (slow_engine(engine)).session("insurance_renewal")
            took = []
            for words in ("hello, my car insurance is running out", "what a day, eh", "sorry, who are you again"):
                began = asyncio.get_running_loop().time()
                await session.ask(words)
                took.append(asyncio.get_running_loop().time() - began - session.reply.stall_s)
            return took

    assert run_virtual(call()) == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)


def test_no_supervisor_token_reaches_the_responders_stream(settings: Settings) -> None:
    fast = fake_provider("fast", ["STEP: acknowledge\nI speak to the caller."])
    slow = fake_provider("slow", ["SECRET THOUGHTS of the supervisor"])
    chosen = with_model(settings, "fast:x", supervisor_model="slow:x")

    async def call() -> list[str]:
        seen: list[str] = []
        async with Engine.open(chosen, persist=False) as engine:

            async def think(state: SupervisorState) -> SupervisorState:
                assert engine.services.slow_chat is not None
                await engine.services.slow_chat.complete([("user", "think aloud")])
                return {}

            graph = supervisor.build(engine.services)
            graph.add_node("think", think)
            graph.add_edge("__start__", "think")
            engine.services.trigger = LocalTrigger(
                graph.compile(checkpointer=LatestOnlySaver(), store=engine.store), engine.services
            )
            session = await engine.session("insurance_renewal")
            config: Any = {"configurable": {"thread_id": "t"}}
            for words in ("hello", "nice weather today"):
                run = engine.responder.astream(
                    {"utterance": words},
                    config,
                    context=session.context,
                    stream_mode=["messages", "custom", "updates"],
                    subgraphs=True,
                )
                async for part in run:
                    seen.append(repr(part))
                    await asyncio.sleep(0.01)
            await asyncio.sleep(1.0)
        return seen

    seen = run_virtual(call())
    assert slow.calls, "the supervisor must have been thinking for this test to mean anything"
    assert fast.calls
    assert any("I speak" in part or "caller." in part for part in seen)
    assert not any("SECRET" in part or "THOUGHTS" in part for part in seen)


def test_three_quick_turns_leave_only_the_newest_passs_writes(settings: Settings) -> None:
    async def call() -> tuple[list[int], list[tuple[int, str]], int]:
        async with Engine.open(settings, persist=False) as engine:
            first = await engine.session("insurance_renewal", session_id="s")
            watching = Watching(ByValue(first.board.kit.procedure))
            session = await slow_engine(engine).session("insurance_renewal", session_id="s")
            session.board.planner = watching
            for words in ("hello there", "it's about my car", "and the price of it"):
                await session.ask(words)
            await session.settle()
            passes = [(event.for_turn, event.how) for event in session.log.of(PassEnded)]  # type: ignore[attr-defined]
            stored = await engine.store.aget(namespace("default", "s"), "slice")
            assert stored is not None
            return watching.turns, passes, stored.value["turn"]

    planned, passes, stored_turn = run_virtual(call())
    assert planned == [3]
    assert passes == [(1, "superseded"), (2, "superseded"), (3, "published")]
    assert stored_turn == 3


def test_a_stale_pass_cannot_overwrite_a_newer_slice(settings: Settings) -> None:
    from cuecard.blackboard import publish

    async def call() -> tuple[bool, bool, int]:
        async with Engine.open(settings, persist=False) as engine:
            session = await engine.session("insurance_renewal", session_id="s")
            newer = await publish(session.board, engine.store, 5)
            older = await publish(session.board, engine.store, 4)
            stored = await engine.store.aget(namespace("default", "s"), "slice")
            assert stored is not None
            return newer, older, stored.value["turn"]

    assert run_virtual(call()) == (True, False, 5)


def test_what_a_superseded_pass_fetched_is_not_lost(settings: Settings) -> None:
    async def call() -> set[str]:
        async with Engine.open(settings, persist=False) as engine:
            session = await verified(engine)
            await session.settle()
            started = set(session.board.kit.broker.in_flight(("default", "s")))  # type: ignore[arg-type]
            assert started, "the first pass must have begun fetches that take seconds"
            await session.ask("hang on a second, the dog wants out")
            await session.ask("right, where were we")
            await asyncio.sleep(10.0)
            return {item.dep for item in session.board.pool.items} & {key.dep for key in started}

    assert run_virtual(call())


def test_the_next_answer_is_ready_because_the_supervisor_worked_ahead(settings: Settings) -> None:
    async def call(prefetch: str) -> tuple[float, list[str]]:
        async with Engine.open(settings, persist=False) as engine:
            context = Context(prefetch=prefetch)
            session = await engine.session("insurance_renewal", session_id="s", context=context)
            await session.greet()
            for words in (
                f"policy {CALLER[0]}, born {CALLER[1]}",
                "about nine thousand miles a year",
                "oh come on, that's far too expensive, other people pay much less",
            ):
                await asyncio.sleep(8.0)
                reply = await session.ask(words)
            needs = [need for need in session.log.of(NeedResolved) if need.turn == session.board.turn]
            return reply.stall_s, sorted({need.how for need in needs})  # type: ignore[attr-defined]

    ahead_s, how = run_virtual(call("value"))
    waiting_s, live = run_virtual(call("none"))
    assert (ahead_s, how) == (0.0, ["ready"])
    assert waiting_s > 3.0
    assert live == ["live"]

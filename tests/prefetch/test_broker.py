"""The broker: one flight per key, joinable, limited, and outcomes instead of exceptions."""

import asyncio
import random
from collections.abc import Awaitable, Callable

from cuecard.clock import LoopClock, run_virtual
from cuecard.prefetch import FetchBroker, Fetched, Limits, Missing, SessionId, Sink
from cuecard.prefetch.events import FetchEnded, FetchStarted
from tests.prefetch.helpers import WHO, Box, Source, dependency, job

OTHER = SessionId("acme", "s2")
OTHERS = (OTHER, SessionId("zenith", "s"), SessionId("zenith", "s1"), SessionId("acme/s1", ""))
Scene = Callable[[FetchBroker, Source, Box], Awaitable[None]]


def play(scene: Scene, limits: Limits | None = None) -> tuple[Source, Box]:
    async def run() -> tuple[Source, Box]:
        source, box = Source(), Box()
        broker = FetchBroker({"table": source}, LoopClock(), random.Random(1), limits=limits)
        broker.open(WHO, Sink(box.items.append, box.events.append))
        for other in OTHERS:
            broker.open(other, Sink(lambda _: None))
        await scene(broker, source, box)
        await broker.aclose()
        assert not [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        return source, box

    return run_virtual(run())


def test_two_wishes_for_one_key_are_one_fetch() -> None:
    async def scene(broker: FetchBroker, source: Source, box: Box) -> None:
        first, second = broker.request(job()), broker.request(job())
        assert not first.joined
        assert second.joined
        assert await first.wait() == await second.wait()

    source, box = play(scene)
    assert len(source.calls) == 1
    assert len(box.items) == 1


def test_a_live_fetch_joins_the_background_one_and_waits_only_for_the_rest() -> None:
    async def scene(broker: FetchBroker, source: Source, box: Box) -> None:
        broker.request(job())
        await LoopClock().sleep(0.7)
        began_s = LoopClock().now()
        assert isinstance(await broker.live(job()).wait(), Fetched)
        assert round(LoopClock().now() - began_s, 6) == 0.3

    source, _ = play(scene)
    assert len(source.calls) == 1


def test_a_live_fetch_passes_the_queue_and_is_not_charged_to_the_budget() -> None:
    async def scene(broker: FetchBroker, source: Source, box: Box) -> None:
        for name in ("a", "b"):
            broker.request(job(name))
        assert broker.live(job("b")).state == "running"
        assert broker.account(WHO).background == 1
        assert broker.account(WHO).live == 1

    play(scene, Limits(pipes_per_backend=1))


def test_the_most_valuable_wish_leaves_the_queue_first() -> None:
    async def scene(broker: FetchBroker, source: Source, box: Box) -> None:
        for name, value_s in (("running", 9.0), ("little", 0.1), ("much", 2.0)):
            broker.request(job(name, value_s=value_s))
        await LoopClock().sleep(5.0)

    source, _ = play(scene, Limits(pipes_per_backend=1))
    assert [call.dep for call in source.calls] == ["running", "much", "little"]


def test_no_more_fetches_run_at_once_than_there_are_pipes() -> None:
    async def scene(broker: FetchBroker, source: Source, box: Box) -> None:
        for n in range(20):
            broker.request(job(f"d{n}"))
        await LoopClock().sleep(30.0)

    source, box = play(scene, Limits(pipes_per_backend=3))
    assert source.most_at_once == 3
    assert len(box.items) == 20


def test_long_shots_leave_a_pipe_free_for_what_is_likely() -> None:
    async def scene(broker: FetchBroker, source: Source, box: Box) -> None:
        for n in range(6):
            broker.request(job(f"d{n}", p=0.1, value_s=9.0))
        assert broker.request(job("likely", p=0.9)).state == "running"

    source, _ = play(scene, Limits(pipes_per_backend=4))
    assert source.most_at_once <= 4


def test_a_spent_budget_is_an_outcome_and_a_live_fetch_still_goes() -> None:
    async def scene(broker: FetchBroker, source: Source, box: Box) -> None:
        broker.request(job("a"))
        refused = await broker.request(job("b")).wait()
        assert isinstance(refused, Missing)
        assert refused.reason == "budget"
        assert isinstance(await broker.live(job("b")).wait(), Fetched)

    play(scene, Limits(session_budget=1))


def test_a_tenant_budget_counts_all_its_sessions() -> None:
    async def scene(broker: FetchBroker, source: Source, box: Box) -> None:
        broker.request(job("a"))
        refused = broker.request(job("a", who=OTHER)).outcome
        assert isinstance(refused, Missing)
        assert isinstance(await broker.request(job("a", who=SessionId("zenith", "s"))).wait(), Fetched)

    play(scene, Limits(tenant_budget=1))


def test_a_transient_failure_is_tried_again_inside_the_time_limit() -> None:
    async def scene(broker: FetchBroker, source: Source, box: Box) -> None:
        source.behaviour = lambda call: "transient" if len(source.calls) < 3 else "good"
        assert isinstance(await broker.request(job()).wait(), Fetched)

    source, box = play(scene)
    assert len(source.calls) == 3
    assert next(event.attempts for event in box.events if isinstance(event, FetchEnded)) == 3


def test_failures_junk_and_time_outs_are_outcomes() -> None:
    async def scene(broker: FetchBroker, source: Source, box: Box) -> None:
        behaviours = {"slow": "hangs", "odd": "junk", "down": "transient", "wrong": "broken"}
        source.behaviour = lambda call: behaviours[call.dep]
        outcomes = {name: await broker.live(job(name)).wait() for name in behaviours}
        reasons = {name: outcome.reason for name, outcome in outcomes.items() if isinstance(outcome, Missing)}
        assert reasons == {"slow": "timeout", "odd": "junk", "down": "failed", "wrong": "failed"}

    _, box = play(scene)
    assert not box.items


def test_a_dependency_that_keeps_failing_is_left_alone_and_then_tried_once() -> None:
    async def scene(broker: FetchBroker, source: Source, box: Box) -> None:
        source.behaviour = lambda call: "broken"
        for _ in range(4):
            await broker.live(job()).wait()
        refused = await broker.live(job()).wait()
        assert isinstance(refused, Missing)
        assert refused.reason == "breaker_open"
        assert len(source.calls) == 4
        await LoopClock().sleep(30.0)
        source.behaviour = lambda call: "good"
        assert isinstance(await broker.live(job()).wait(), Fetched)

    play(scene)


def test_a_fetch_survives_the_pass_and_the_wait_that_asked_for_it() -> None:
    async def scene(broker: FetchBroker, source: Source, box: Box) -> None:
        waiting = asyncio.create_task(broker.request(job()).wait())
        await asyncio.sleep(0.1)
        waiting.cancel()
        await LoopClock().sleep(2.0)
        assert len(box.items) == 1

    play(scene)


def test_a_fetch_ends_only_when_the_last_session_leaves() -> None:
    async def scene(broker: FetchBroker, source: Source, box: Box) -> None:
        shared = dependency(scope="tenant")
        broker.request(job(spec=shared))
        theirs = broker.request(job(spec=shared, who=OTHER))
        assert not broker.withdraw(job(spec=shared).key, WHO)
        assert isinstance(await theirs.wait(), Fetched)
        assert not box.items
        alone = broker.request(job("b"))
        assert broker.withdraw(job("b").key, WHO)
        assert alone.outcome == Missing("b", "withdrawn")

    source, _ = play(scene)
    assert len(source.calls) == 1


def test_a_withdrawn_wish_in_the_queue_gives_its_budget_back() -> None:
    async def scene(broker: FetchBroker, source: Source, box: Box) -> None:
        broker.request(job("a"))
        broker.request(job("b"))
        assert broker.account(WHO).background == 2
        broker.withdraw(job("b").key, WHO)
        assert broker.account(WHO).background == 1

    play(scene, Limits(pipes_per_backend=1))


def test_what_was_asked_with_a_corrected_fact_never_arrives() -> None:
    async def scene(broker: FetchBroker, source: Source, box: Box) -> None:
        broker.request(job("policy", facts=frozenset({"plate"})))
        broker.request(job("weather"))
        assert broker.forget_facts(WHO, frozenset({"plate"})) == 1
        await LoopClock().sleep(2.0)

    _, box = play(scene)
    assert [item.dep for item in box.items] == ["weather"]


def test_a_tenants_result_serves_its_other_sessions_and_nobody_elses() -> None:
    async def scene(broker: FetchBroker, source: Source, box: Box) -> None:
        tariff = dependency(scope="tenant")
        await broker.request(job("tariff", tariff)).wait()
        assert broker.request(job("tariff", tariff, who=OTHER)).state == "done"
        assert broker.request(job("tariff", tariff, who=SessionId("zenith", "s1"))).state != "done"
        await LoopClock().sleep(70.0)
        assert broker.request(job("tariff", tariff, who=OTHER)).state != "done"

    play(scene)


def test_sessions_never_share_a_session_scoped_flight() -> None:
    async def scene(broker: FetchBroker, source: Source, box: Box) -> None:
        args = {"plate": "AB12"}
        assert not broker.request(job(args=args)).joined
        assert not broker.request(job(args=args, who=OTHER)).joined
        assert not broker.request(job(args=args, who=SessionId("acme/s1", ""))).joined
        await LoopClock().sleep(2.0)

    source, _ = play(scene)
    assert len(source.calls) == 3


def test_every_fetch_tells_what_it_was_for_and_how_it_ended() -> None:
    async def scene(broker: FetchBroker, source: Source, box: Box) -> None:
        await broker.request(job()).wait()

    _, box = play(scene)
    started, ended = box.events
    assert isinstance(started, FetchStarted)
    assert started.background
    assert isinstance(ended, FetchEnded)
    assert (ended.how, ended.n_items, ended.took_s) == ("landed", 1, 1.0)


def test_a_wish_that_comes_after_its_session_was_closed_fetches_nothing_and_keeps_no_books() -> None:
    async def scene(broker: FetchBroker, source: Source, box: Box) -> None:
        broker.close(WHO)
        outcome = broker.request(job()).outcome
        assert isinstance(outcome, Missing)
        assert outcome.reason == "closed"
        assert not broker._books.sessions

    source, _ = play(scene)
    assert not source.calls

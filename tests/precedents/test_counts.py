"""What is read back is what was counted, decayed, and nothing else."""

import asyncio
import random
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuecard.precedents import Precedents
from cuecard.predictors.counts import CountKey, Kind, MemoryCounts, Situation, contexts, increments
from cuecard.predictors.types import TurnView
from tests.precedents.calls import assert_same, call, random_calls, stored_counts, turn

KINDS: tuple[Kind, ...] = ("action", "source", "state")
NOW = Situation(actions=("a", "b"), state="said_b")


async def read(store: Precedents, key: CountKey) -> Mapping[str, float]:
    (found,) = await store.counts("acme").read([key])
    return found


async def test_a_following_action_is_counted_at_each_offset_under_each_level(store: Precedents) -> None:
    await store.record(call("s", "abcd"))
    await store.flush()
    levels = contexts(NOW)
    assert await read(store, CountKey("renewal", "action", 1, levels["last2"])) == {"c": 1.0}
    assert await read(store, CountKey("renewal", "action", 2, levels["state"])) == {"d": 1.0}
    assert await read(store, CountKey("renewal", "state", 1, levels["last"])) == {"said_c": 1.0}
    assert await read(store, CountKey("renewal", "source", 1, levels["last"])) == {"": 1.0}
    assert await read(store, CountKey("renewal", "action", 3, levels["last"])) == {}
    assert await read(store, CountKey("renewal", "action", 1, levels["sop"])) == {"b": 1.0, "c": 1.0, "d": 1.0}


async def test_evidence_one_half_life_old_counts_half(store: Precedents) -> None:
    await store.record([*call("first", "ab"), *(one for i in range(10) for one in call(f"other{i}", "x"))])
    await store.flush()
    assert (await read(store, CountKey("renewal", "action", 1, ("sop",))))["b"] == pytest.approx(0.5, abs=1e-9)


async def test_the_store_and_the_counts_in_memory_agree(store: Precedents) -> None:
    memory = MemoryCounts(half_life_sessions=10.0)
    keys: set[CountKey] = set()
    for session in random_calls(1, 40):
        session = [replace(one, cohort="old", mood="sad") for one in session]
        memory.end_session()
        views = [TurnView("", one.state, one.action, "", one.source, due=one.due) for one in session]
        for end in range(1, len(views) + 1):
            for increment in increments("renewal", views[:end], "old", "sad"):
                memory.add(increment)
                keys.add(increment.key)
        await store.record(session)
    await store.flush()
    wanted = sorted(keys)
    for key, ours, theirs in zip(
        wanted, await store.counts("acme").read(wanted), await memory.read(wanted), strict=True
    ):
        assert dict(ours) == pytest.approx(dict(theirs)), key


async def test_importing_the_same_turns_twice_changes_nothing(store: Precedents) -> None:
    calls = [one for session in random_calls(2, 20) for one in session]
    await store.record(calls)
    await store.flush()
    before = stored_counts(store)
    await store.record(calls)
    await store.record([turn("s0", 0, "something else")])
    await store.flush()
    assert_same(stored_counts(store), before)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 10_000), order=st.randoms(use_true_random=False), half_life=st.sampled_from([0.5, 3.0, 1500.0])
)
def test_counts_kept_turn_by_turn_in_any_order_with_calls_forgotten_equal_those_rebuilt_from_the_turns(
    seed: int, order: random.Random, half_life: float
) -> None:
    async def check(path: Path) -> None:
        store = await Precedents.open(path, half_life_sessions=half_life)
        turns = [one for session in random_calls(seed, 12) for one in session]
        order.shuffle(turns)
        while turns:
            n = order.randint(1, 6)
            await store.record(turns[:n])
            await store.flush()
            turns = turns[n:]
        kept = stored_counts(store)
        await store.recount("acme")
        assert_same(stored_counts(store), kept)
        for index in order.sample(range(12), 3):
            assert await store.forget_session("acme", f"s{index}") > 0
        left = stored_counts(store)
        await store.recount("acme")
        assert_same(stored_counts(store), left)
        await store.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder) / "p.sqlite"))


async def test_weights_are_scaled_back_long_before_they_overflow(tmp_path: Path) -> None:
    store = await Precedents.open(tmp_path / "p.sqlite", half_life_sessions=0.25)
    for index in range(1000):
        await store.record(call(f"s{index}", "ab"))
        if index % 50 == 0:
            await store.flush()
    await store.flush()
    weight = (await read(store, CountKey("renewal", "action", 1, ("sop",))))["b"]
    assert weight == pytest.approx(1 / (1 - 2**-4.0))
    await store.close()


async def test_one_turn_at_the_end_of_a_long_history_writes_a_bounded_number_of_contexts(store: Precedents) -> None:
    await store.record([one for session in random_calls(3, 200) for one in session])
    await store.record(call("now", "abcdab"))
    await store.flush()
    written = store._writer.record([turn("now", 6, "c")])
    # Eight levels and the topic's, at three offsets.
    assert 0 < len(written["acme"]) <= 27


async def test_our_own_writes_show_at_once_although_rows_are_remembered(store: Precedents) -> None:
    key = CountKey("renewal", "action", 1, ("last", "a"))
    assert await read(store, key) == {}
    await store.record(call("one", "ab"))
    await store.flush()
    assert await read(store, key) == {"b": 1.0}
    await store.record(call("two", "ac"))
    await store.flush()
    assert (await read(store, key)).keys() == {"b", "c"}


async def test_tenants_do_not_see_each_other(store: Precedents) -> None:
    await store.record(call("s", "ab") + call("s", "ac", tenant="other"))
    await store.flush()
    key = CountKey("renewal", "action", 1, ("last", "a"))
    assert await read(store, key) == {"b": 1.0}
    assert await store.counts("other").read([key]) == [{"c": 1.0}]


async def test_a_procedures_aliases_are_carried_over_once(store: Precedents, monkeypatch: pytest.MonkeyPatch) -> None:
    await store.record(call("s", "ab"))
    await store.carry_over("acme", "renewal", {"a": "x"})
    assert (await read(store, CountKey("renewal", "action", 1, ("last", "x")))) == {"b": 1.0}
    with monkeypatch.context() as forbidden:
        forbidden.setattr(store._writer, "rename", None)
        await store.carry_over("acme", "renewal", {"a": "x"})


async def test_what_followed_a_step_that_was_due_is_counted_apart(store: Precedents) -> None:
    await store.record([turn("s", 0, "a", due="b"), turn("s", 1, "b", due="c"), turn("s", 2, "a", due="d")])
    await store.record([turn("t", 0, "a", due="d"), turn("t", 1, "e")])
    await store.flush()
    assert (await read(store, CountKey("renewal", "action", 1, ("due", "a", "b")))).keys() == {"b"}
    assert (await read(store, CountKey("renewal", "action", 1, ("due", "a", "d")))).keys() == {"e"}
    await store.rename("acme", "renewal", {"d": "x"})
    assert (await read(store, CountKey("renewal", "action", 1, ("due", "a", "x")))).keys() == {"e"}


async def test_a_renamed_action_keeps_its_counts(store: Precedents) -> None:
    await store.record(call("s", "abc") + call("elsewhere", "ab", sop="cards"))
    await store.record(call("new", "xb"))
    await store.rename("acme", "renewal", {"a": "x"})
    levels = contexts(Situation(actions=("x",)))
    assert (await read(store, CountKey("renewal", "action", 1, levels["last"])))["b"] == pytest.approx(2.0, rel=0.2)
    await store.record(call("straggler", "ab"))
    await store.flush()
    assert (await read(store, CountKey("renewal", "action", 1, levels["last"])))["b"] == pytest.approx(2.9, rel=0.2)
    assert (await read(store, CountKey("cards", "action", 1, ("last", "a")))).keys() == {"b"}

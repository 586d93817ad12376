"""Past turns like the present one come back with how they ended, at a cost that does not grow."""

import numpy as np
import pytest
from sqlalchemy import text

from cuecard.precedents import Precedents, Similar
from cuecard.precedents.engine import reading
from cuecard.precedents.similar import CANDIDATES
from cuecard.precedents.types import Vector
from tests.precedents.calls import call, turn, vector


def near(seed: int, cosine: float) -> Vector:
    """A unit vector at that cosine to `vector(seed)`."""
    base, other = vector(seed), vector(seed + 1000)
    other = other - base * float(other @ base)
    mixed = base * cosine + other / np.linalg.norm(other) * np.sqrt(1 - cosine**2)
    found: Vector = mixed.astype(np.float32)
    return found


async def ask(store: Precedents, k: int = 3, **more: str) -> list[Similar]:
    return await store.similar("acme", sop="renewal", vector=vector(1), k=k, **more)


async def test_the_nearest_words_come_first_with_what_was_done_and_how_it_ended(store: Precedents) -> None:
    await store.record(
        [
            turn("far", 0, "a", utterance="far", embedding=vector(2)),
            turn("close", 0, "b", utterance="close", reply="done", embedding=near(1, 0.9), cohort="old", mood="sad"),
        ]
    )
    await store.set_outcome("acme", "close", "success")
    await store.flush()
    first, second = await ask(store)
    assert (first.utterance, first.reply, first.action, first.outcome) == ("close", "done", "b", "success")
    assert (first.session, first.turn, first.after, first.cohort, first.mood) == ("close", 0, "", "old", "sad")
    assert first.cosine == pytest.approx(0.9, abs=0.01)
    assert (second.utterance, second.outcome) == ("far", "")


async def test_the_same_mood_sharpens_what_comes_back(store: Precedents) -> None:
    await store.record(
        [
            turn("calm", 0, "explain", state="asks", mood="calm", embedding=near(1, 0.81)),
            turn("cross", 0, "apologise", state="asks", mood="cross", embedding=near(1, 0.80)),
        ]
    )
    await store.flush()
    assert [one.action for one in await ask(store, state="asks", mood="calm")] == ["explain", "apologise"]
    assert [one.action for one in await ask(store, state="asks", mood="cross")] == ["apologise", "explain"]


async def test_the_step_just_taken_is_compared_with_the_step_before_each_turn(store: Precedents) -> None:
    await store.record(call("s", "greet", state="yes", embedding=near(1, 0.5)))
    await store.flush()
    found = await ask(store, state="yes", after="e", k=9)
    assert [one.after for one in found][:2] == ["e", "e"]
    assert {one.action for one in found[:2]} == {"e", "t"}


async def test_a_late_outcome_reaches_turns_already_stored(store: Precedents) -> None:
    await store.record(call("s", "ab", embedding=vector(1)))
    await store.flush()
    assert {one.outcome for one in await ask(store)} == {""}
    await store.set_outcome("acme", "s", "declined")
    await store.set_outcome("acme", "nobody", "success")
    await store.set_outcome("nobody", "s", "success")
    await store.flush()
    assert {one.outcome for one in await ask(store)} == {"declined"}
    await store.record([turn("s", 2, "c", outcome="success")])
    await store.flush()
    assert {one.outcome for one in await ask(store)} == {"success"}


async def test_rare_situations_are_found_behind_a_flood_of_common_ones(store: Precedents) -> None:
    await store.record([turn("rare", 0, "refund", state="furious", mood="cross", embedding=near(1, 0.7))])
    flood = [turn(f"f{i}", 0, "greet", state="hello", mood="calm", embedding=vector(i + 5)) for i in range(300)]
    await store.record(flood)
    await store.flush()
    found = await ask(store, state="furious", mood="cross", k=1)
    assert found[0].action == "refund"


async def test_an_unknown_procedure_tenant_or_name_finds_nothing_or_the_widest(store: Precedents) -> None:
    assert await ask(store) == []
    await store.record([turn("s", 0, "a", embedding=vector(1))])
    await store.flush()
    assert await store.similar("nobody", sop="renewal", vector=vector(1)) == []
    assert await store.similar("acme", sop="unheard of", vector=vector(1)) == []
    assert len(await ask(store, state="unheard of", mood="never", after="nothing")) == 1


async def test_turns_without_a_vector_are_counted_but_not_found(store: Precedents) -> None:
    await store.record(call("s", "abc", utterance="words"))
    await store.flush()
    assert await ask(store) == []


async def test_each_width_of_search_reads_an_index_and_stops(store: Precedents) -> None:
    if store._reader.engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL plans by the size of its tables; SQLite's plan is fixed.")
    columns = ("state_id", "after_id", "mood_id")
    for n in (0, 2, 3):
        where = " AND ".join(f"{name} = 1" for name in ("tenant_id", "sop_id", *columns[:n]))
        query = f"SELECT * FROM precedent_words WHERE {where} ORDER BY session_id DESC LIMIT {CANDIDATES}"
        with reading(store._reader.engine) as connection:
            plan = [row.detail for row in connection.execute(text(f"EXPLAIN QUERY PLAN {query}"))]
        assert plan[0].startswith("SEARCH precedent_words USING INDEX")
        assert not any("TEMP B-TREE" in line for line in plan)

"""The bench's shortcut to millions of turns leaves the store as recording them would have."""

from pathlib import Path

from cuecard.precedents import Precedents
from evals.scale.fill import fill
from evals.scale.world import World
from tests.precedents.calls import assert_same, stored_counts


async def test_turns_filled_in_bulk_are_counted_as_if_they_had_been_recorded(tmp_path: Path) -> None:
    store = await Precedents.open(tmp_path / "p.sqlite", half_life_sessions=20.0)
    fill(store._reader.engine, "acme", World(), 2_000, half_life=20.0)
    filled = stored_counts(store)
    await store.recount("acme")
    assert len(filled) > 500
    assert_same(stored_counts(store), filled)
    await store.close()

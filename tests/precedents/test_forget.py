"""What is forgotten is gone: from the tables, from the counts, from the file."""

from pathlib import Path

import pytest
from sqlalchemy import func, select

from cuecard.precedents import Precedents
from cuecard.precedents.engine import reading
from cuecard.precedents.schema import metadata, sessions, topics, turns, words
from cuecard.predictors.counts import CountKey
from tests.precedents.calls import assert_same, call, random_calls, stored_counts, turn, vector


def n_rows(store: Precedents) -> dict[str, int]:
    with reading(store._reader.engine) as connection:
        return {
            name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for name, table in metadata.tables.items()
        }


@pytest.mark.parametrize("forgotten", ["s0", "s7", "s19"])
async def test_a_forgotten_call_leaves_the_counts_as_if_it_had_never_been(
    store: Precedents, tmp_path: Path, forgotten: str
) -> None:
    calls = random_calls(5, 20, utterance="how much is it", question=True, embedding=vector(1))
    await store.record([one for session in calls for one in session])
    n_turns = await store.forget_session("acme", forgotten)
    assert n_turns == len(next(session for session in calls if session[0].session == forgotten))
    left = stored_counts(store)
    await store.recount("acme")
    assert_same(left, stored_counts(store))
    with reading(store._reader.engine) as connection:
        assert connection.execute(select(topics.c.n)).scalar_one() == sum(map(len, calls)) - n_turns


async def test_forgetting_every_call_leaves_not_a_row_behind_but_the_names(store: Precedents) -> None:
    for session in random_calls(6, 10, utterance="words", question=True, embedding=vector(2)):
        await store.record(session)
    for index in range(10):
        assert await store.forget_session("acme", f"s{index}") > 0
    left = n_rows(store)
    assert {name for name, n in left.items() if n} == {"precedent_tenants", "precedent_labels"}


async def test_a_forgotten_tenant_leaves_nothing_and_others_everything(store: Precedents) -> None:
    await store.record(call("a", "abc", utterance="hello", embedding=vector(3)))
    await store.record(call("b", "abc", tenant="other", utterance="hello", embedding=vector(3)))
    await store.flush()
    before = stored_counts(store, "other")
    await store.record(call("waiting", "ab"))
    assert await store.forget_tenant("acme") == 3
    await store.flush()
    assert n_rows(store)["precedent_sessions"] == 1
    assert_same(stored_counts(store, "other"), before)
    assert await store.counts("acme").read([CountKey("renewal", "action", 1, ("last", "a"))]) == [{}]
    await store.record(call("again", "ab"))
    await store.flush()
    assert await store.counts("acme").read([CountKey("renewal", "action", 1, ("last", "a"))]) == [{"b": 1.0}]


async def test_forgotten_words_cannot_be_read_from_the_file(tmp_path: Path) -> None:
    store = await Precedents.open(tmp_path / "p.sqlite")
    await store.record(call("a", "ab", utterance="my maiden name is Zwiebelkuchen"))
    await store.record(call("b", "ab", utterance="something harmless"))
    await store.flush()
    assert b"Zwiebelkuchen" in _bytes(tmp_path)
    await store.forget_session("acme", "a")
    assert b"Zwiebelkuchen" not in _bytes(tmp_path)
    assert b"harmless" in _bytes(tmp_path)
    await store.close()


def _bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def test_past_the_keep_by_date_words_and_names_go_and_what_was_learned_stays(store: Precedents) -> None:
    await store.record(call("old", "abc", at=1_000.0, utterance="Zwiebelkuchen", question=True, embedding=vector(4)))
    await store.record(call("new", "abc", at=9_000.0, utterance="recent"))
    await store.flush()
    counts = stored_counts(store)
    assert await store.purge(started_before=5_000.0) == 1
    assert await store.purge(started_before=5_000.0) == 0
    assert_same(stored_counts(store), counts)
    with reading(store._reader.engine) as connection:
        assert connection.execute(select(words.c.utterance).distinct()).scalars().all() == ["recent"]
        assert "old" not in connection.execute(select(sessions.c.name)).scalars().all()
        assert connection.execute(select(func.count()).select_from(turns)).scalar_one() == 6
        assert connection.execute(select(func.count()).select_from(topics)).scalar_one() == 0


async def test_a_name_that_looks_purged_does_not_save_a_call_from_being_purged(store: Precedents) -> None:
    for name in ("sha256:abc", "=x"):
        await store.record(call(name, "a", utterance="words", embedding=vector(5)))
    await store.flush()
    found = await store.similar("acme", sop="renewal", vector=vector(5))
    assert {one.session for one in found} == {"sha256:abc", "=x"}
    assert await store.purge(started_before=5_000.0) == 2
    assert await store.similar("acme", sop="renewal", vector=vector(5)) == []
    assert await store.forget_session("acme", "sha256:abc") == 1


async def test_a_call_past_its_date_can_still_be_forgotten_by_name_and_not_imported_twice(store: Precedents) -> None:
    await store.record(call("old", "abc", at=1_000.0))
    await store.flush()
    await store.purge(started_before=5_000.0)
    counts = stored_counts(store)
    await store.record(call("old", "abc", at=1_000.0))
    await store.flush()
    assert_same(stored_counts(store), counts)
    assert await store.tenants_with("old") == ["acme"]
    assert await store.forget_session("acme", "old") == 3
    assert stored_counts(store) == {}


async def test_forgetting_what_was_never_stored_changes_nothing(store: Precedents) -> None:
    assert await store.forget_session("acme", "nobody") == 0
    assert await store.forget_tenant("nobody") == 0
    await store.record([turn("s", 0, "a")])
    await store.flush()
    assert await store.forget_session("acme", "nobody") == 0
    assert n_rows(store)["precedent_turns"] == 1


async def test_a_tenant_forgotten_by_another_process_is_not_confused_with_the_next_one(place: str | Path) -> None:
    one, other = await Precedents.open(place), await Precedents.open(place)
    await one.record(call("s", "ab", utterance="hello", embedding=vector(1)))
    await one.flush()
    assert await one.similar("acme", sop="renewal", vector=vector(1))
    await other.forget_tenant("acme")
    await other.record(call("s", "ac", tenant="newcomer", utterance="secret", embedding=vector(1)))
    await other.flush()
    assert await one.similar("acme", sop="renewal", vector=vector(1)) == []
    await one.record(call("t", "ad", utterance="mine", embedding=vector(1)))
    await one.flush()
    assert {found.utterance for found in await one.similar("acme", sop="renewal", vector=vector(1))} == {"mine"}
    assert {found.utterance for found in await one.similar("newcomer", sop="renewal", vector=vector(1))} == {"secret"}
    await one.close()
    await other.close()


async def test_a_turn_taken_back_is_replaced_in_words_counts_and_questions(store: Precedents) -> None:
    for session in random_calls(7, 5, utterance="how much is it", question=True, embedding=vector(1)):
        await store.record(session)
    await store.record(
        call("s9", "abc", utterance="half a sentence", question=True, embedding=vector(2), outcome="success")
    )
    await store.flush()
    await store.record(
        [turn("s9", 2, "d", utterance="the whole sentence", question=True, embedding=vector(3), instead=True)]
    )
    await store.flush()
    left = stored_counts(store)
    await store.recount("acme")
    assert_same(left, stored_counts(store))
    with reading(store._reader.engine) as connection:
        said = connection.execute(select(words.c.turn, words.c.utterance).order_by(words.c.session_id.desc())).all()
        assert next(row.utterance for row in said if row.turn == 2) == "the whole sentence"
        assert n_rows(store)["precedent_turns"] == sum(map(len, random_calls(7, 5))) + 3
        assert connection.execute(select(func.sum(topics.c.n))).scalar_one() == n_rows(store)["precedent_words"]
        ended = select(sessions.c.outcome).where(sessions.c.name == "s9")
        assert connection.execute(ended).scalar_one() == "", "what it came to was said of the turn that is gone"


async def test_a_turn_and_the_one_in_its_place_may_come_in_one_batch(store: Precedents) -> None:
    taken_back, kept = turn("s", 0, "a", utterance="half"), turn("s", 0, "b", utterance="whole", instead=True)
    await store.record([taken_back, kept])
    await store.flush()
    await store.record([taken_back])
    await store.flush()
    with reading(store._reader.engine) as connection:
        assert connection.execute(select(words.c.utterance)).scalar_one() == "whole"

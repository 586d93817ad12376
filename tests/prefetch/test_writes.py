"""Writes: once per key, in this process and after it, or in doubt."""

import asyncio
import random
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from cuecard.clock import LoopClock
from cuecard.errors import FetchRefused
from cuecard.prefetch import FetchBroker, Fetched, MemoryWriteLedger, Missing, Outcome, SqliteWriteLedger, WriteLedger
from cuecard.prefetch.types import FetchCall
from cuecard.prefetch.writes import PostgresWriteLedger
from tests.postgres import postgres_server, postgres_url
from tests.prefetch.helpers import Source, dependency

__all__ = ["postgres_server", "postgres_url"]

RENEWAL = dependency(effect="write", latency_s=0.02, timeout_s=1.0)


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> WriteLedger:
    if request.param == "postgresql":
        return PostgresWriteLedger(request.getfixturevalue("postgres_url"))
    return MemoryWriteLedger() if request.param == "memory" else SqliteWriteLedger(tmp_path / "data" / "writes.sqlite")


def broker_over(source: Source, ledger: WriteLedger) -> FetchBroker:
    return FetchBroker({"table": source}, LoopClock(), random.Random(1), ledger=ledger)


def bytes_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def write(broker: FetchBroker, key: str = "k", *, verified: bool = True) -> Outcome:
    return await broker.execute_write("renewal", RENEWAL, {"plate": "AB12"}, idempotency_key=key, verified=verified)


async def test_many_callers_of_one_key_write_once_and_hear_the_same(ledger: WriteLedger) -> None:
    source = Source()
    broker = broker_over(source, ledger)
    outcomes = await asyncio.gather(*(write(broker) for _ in range(5)))
    assert all(isinstance(outcome, Fetched) for outcome in outcomes)
    assert len({outcome.items[0].text for outcome in outcomes if isinstance(outcome, Fetched)}) == 1
    assert len(source.calls) == 1
    assert source.calls[0].idempotency_key == "k"


async def test_another_process_finds_the_result_and_does_not_write_again(ledger: WriteLedger) -> None:
    first, second = Source(), Source()
    done = await write(broker_over(first, ledger))
    again = await write(broker_over(second, ledger))
    assert isinstance(done, Fetched)
    assert isinstance(again, Fetched)
    assert again.items[0].data == done.items[0].data
    assert not second.calls


async def test_a_write_that_failed_midway_is_in_doubt_for_ever(ledger: WriteLedger) -> None:
    source = Source(behaviour=lambda call: "transient")
    for _ in range(2):
        outcome = await write(broker_over(source, ledger))
        assert isinstance(outcome, Missing)
        assert outcome.reason == "in_doubt"
    assert len(source.calls) == 1


async def test_a_caller_who_hangs_up_does_not_stop_a_write_that_has_left(ledger: WriteLedger) -> None:
    source = Source()
    broker = broker_over(source, ledger)
    asking = asyncio.create_task(write(broker))
    await source.called.wait()
    asking.cancel()
    await broker.aclose()
    assert isinstance(await write(broker_over(Source(), ledger)), Fetched)


async def test_a_personal_write_waits_for_identity_and_needs_a_key(ledger: WriteLedger) -> None:
    source = Source()
    broker = broker_over(source, ledger)
    personal = RENEWAL.model_copy(update={"verified": True})
    early = await broker.execute_write("renewal", personal, {}, idempotency_key="k", verified=False)
    nameless = await broker.execute_write("renewal", RENEWAL, {}, idempotency_key="", verified=True)
    a_read = await broker.execute_write("policy", dependency(), {}, idempotency_key="k", verified=True)
    assert {type(outcome) for outcome in (early, nameless, a_read)} == {Missing}
    assert not source.calls


async def test_what_a_fetcher_refused_before_it_left_may_be_tried_again(ledger: WriteLedger) -> None:
    refusing = True

    def refuse(call: FetchCall) -> str:
        if refusing:
            raise FetchRefused(call.dep, "set the environment variable TOKEN")
        return "good"

    source = Source(behaviour=refuse)
    broker = broker_over(source, ledger)
    outcome = await write(broker)
    assert isinstance(outcome, Missing)
    assert outcome.reason == "refused"
    refusing = False
    assert isinstance(await write(broker), Fetched)


KEY = 'session/acme/monday:renewal:{"plate":"AB12"}'


async def test_a_forgotten_write_is_not_made_again_and_says_nothing_of_itself(ledger: WriteLedger) -> None:
    first = Source()
    assert isinstance(await write(broker_over(first, ledger), KEY), Fetched)
    assert await ledger.forget("session/acme/tuesday") == 0
    assert isinstance(await write(broker_over(first, ledger), KEY), Fetched)
    assert await ledger.forget("session/acme/monday") == 1
    outcome = await write(broker_over(first, ledger), KEY)
    assert isinstance(outcome, Missing)
    assert outcome.reason == "in_doubt"
    assert len(first.calls) == 1


async def test_past_the_keep_by_date_nothing_is_left_of_a_write(ledger: WriteLedger) -> None:
    assert isinstance(await write(broker_over(Source(), ledger), KEY), Fetched)
    assert await ledger.expire(time.time() - 60.0) == 0
    assert await ledger.expire(time.time() + 60.0) == 1
    again = Source()
    assert isinstance(await write(broker_over(again, ledger), KEY), Fetched)
    assert len(again.calls) == 1


async def test_a_file_names_neither_the_call_nor_what_was_written_for_it(tmp_path: Path) -> None:
    ledger = SqliteWriteLedger(tmp_path / "writes.sqlite")
    assert isinstance(await write(broker_over(Source(), ledger), KEY), Fetched)
    await ledger.forget("session/acme/monday")
    left = bytes_in(tmp_path)
    assert b"renewal" in left
    assert not [word for word in (b"monday", b"AB12", b"acme") if word in left]


async def test_what_an_earlier_version_wrote_down_in_plain_words_is_hidden_and_still_counts(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "writes.sqlite")) as earlier, earlier:
        earlier.execute("CREATE TABLE writes (key TEXT PRIMARY KEY, dep TEXT NOT NULL, records BLOB)")
        earlier.execute('INSERT INTO writes VALUES (?, \'renewal\', \'[{"text":"done","data":{},"id":""}]\')', (KEY,))
    ledger = SqliteWriteLedger(tmp_path / "writes.sqlite")
    outcome = await write(broker_over(Source(), ledger), KEY)
    assert isinstance(outcome, Fetched)
    assert outcome.items[0].text == "done"
    assert b"AB12" not in bytes_in(tmp_path)
    assert await ledger.forget("session/acme/monday") == 1

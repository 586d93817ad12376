"""Turns are written behind the call, together, and none is lost that could be kept."""

import asyncio
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from sqlalchemy import text

from cuecard.clock import run_virtual
from cuecard.errors import StorageError
from cuecard.precedents import Precedent, Precedents
from cuecard.precedents import store as module
from cuecard.precedents.engine import reading
from cuecard.precedents.writer import Moved
from cuecard.predictors.counts import CountKey
from tests.precedents.calls import call, turn

KEY = CountKey("renewal", "action", 1, ("last", "a"))


def away(batch: list[Precedent]) -> Moved:
    raise StorageError("gone.")


async def test_recording_returns_before_anything_is_written_and_a_moment_later_it_is(store: Precedents) -> None:
    await store.record(call("s", "ab"))
    assert await store.counts("acme").read([KEY]) == [{}]
    for _ in range(100):
        await asyncio.sleep(0.05)
        if not store._waiting:
            break
    await store.flush()
    assert await store.counts("acme").read([KEY]) == [{"b": 1.0}]


def test_on_virtual_time_too(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = await Precedents.open(tmp_path / "p.sqlite")
        await store.record(call("s", "ab"))
        await asyncio.sleep(60)
        assert await store.counts("acme").read([KEY]) == [{"b": 1.0}]
        await store.close()

    run_virtual(scenario())


async def test_closing_writes_what_waits(place: str | Path) -> None:
    store = await Precedents.open(place)
    await store.record(call("s", "ab"))
    await store.close()
    again = await Precedents.open(place)
    assert await again.counts("acme").read([KEY]) == [{"b": 1.0}]
    await again.close()


@pytest.mark.parametrize("interrupt", [True, False], ids=["Ctrl-C", "the end of the program"])
def test_nothing_is_lost_when_nobody_closes_the_store(tmp_path: Path, interrupt: bool) -> None:
    program = f"""
        import asyncio, sys
        from cuecard.precedents import Precedent, Precedents

        async def main():
            store = await Precedents.open({str(tmp_path / "p.sqlite")!r})
            await store.record([Precedent("acme", "s", n, "renewal", a, float(n)) for n, a in enumerate("ab")])
            print("ready", flush=True)
            await asyncio.sleep({30 if interrupt else 0})

        asyncio.run(main())
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        if interrupt:
            process.send_signal(signal.SIGINT)
    assert asyncio.run(_stored(tmp_path / "p.sqlite")) == {"b": 1.0}


async def _stored(path: Path) -> dict[str, float]:
    store = await Precedents.open(path)
    (found,) = await store.counts("acme").read([KEY])
    await store.close()
    return dict(found)


async def test_turns_wait_while_the_database_is_away_and_are_written_when_it_is_back(
    store: Precedents, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(store._writer, "record", away)
        await store.record(call("s", "ab"))
        with pytest.raises(StorageError):
            await store.flush()
        assert len(store._waiting) == 2
    await store.flush()
    assert await store.counts("acme").read([KEY]) == [{"b": 1.0}]


async def test_while_the_database_is_away_the_queue_is_bounded_and_lets_the_oldest_go(
    store: Precedents, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "MAX_WAITING", 3)
    with monkeypatch.context() as broken:
        broken.setattr(store._writer, "record", away)
        await store.record(call("s", "abcde"))
    assert [one.turn for one in store._waiting] == [2, 3, 4]
    assert "2 turns were let go" in caplog.text


async def test_an_import_larger_than_the_queue_loses_nothing(
    store: Precedents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_WAITING", 3)
    await store.record([one for index in range(20) for one in call(f"s{index}", "ab")])
    assert not store._waiting
    (found,) = await store.counts("acme").read([CountKey("renewal", "action", 1, ("sop",))])
    assert found["b"] > 8


async def test_two_processes_share_a_store_and_each_sees_what_the_other_wrote(place: str | Path) -> None:
    one, other = await Precedents.open(place), await Precedents.open(place)
    for index in range(5):
        await asyncio.gather(one.record(call(f"a{index}", "ab")), other.record(call(f"b{index}", "ac")))
        await asyncio.gather(one.flush(), other.flush())
    await one.record([turn("a0", 2, "x")])
    await one.flush()
    await other.record([turn("a0", 3, "y")])
    await other.close()
    fresh = await Precedents.open(place)
    (found,) = await fresh.counts("acme").read([KEY])
    assert found["b"] == pytest.approx(5, rel=0.01)
    assert found["c"] == pytest.approx(5, rel=0.01)
    (found,) = await fresh.counts("acme").read([CountKey("renewal", "action", 1, ("last3", "x", "b", "a"))])
    assert found.keys() == {"y"}
    await one.close()
    await fresh.close()


async def test_words_older_than_the_keep_by_date_go_as_new_turns_come(place: str | Path) -> None:
    store = await Precedents.open(place, keep_days=1.0)
    await store.record(call("old", "ab", at=1_000.0, utterance="words"))
    await store.flush()
    await store.record(call("new", "ab", at=1_000.0 + 2 * 86_400, utterance="words"))
    await store.flush()
    with reading(store._reader.engine) as connection:
        assert connection.execute(text("SELECT count(*) FROM precedent_words")).scalar() == 2
    await store.close()

"""What is past its keep-by date, or is to be forgotten, is gone from every place: files, journals and tables."""

import asyncio
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from cuecard.cli.forget import command
from cuecard.context import Context
from cuecard.server.graph_storage import checkpointer
from cuecard.session import Engine
from cuecard.session.outdated import Outdated, first_id
from cuecard.session.retention import Retention
from cuecard.session.storage import Storage, open_storage
from cuecard.settings import Settings, get_settings
from tests.postgres import postgres_server, postgres_url
from tests.session import returns
from tests.session.returns import YES, write_returns

__all__ = ["postgres_server", "postgres_url"]

DAY_S = 86_400.0
SAID = (
    "hello, it's about the pizzicato I ordered",
    "it's 918 273",
    YES,
    YES,
    "does a pizzicato fit a neighbour's letterbox",
)
MARKS = (b"pizzicato", b"zanzibar", b"918273", b"918 273", b"RT-77")
"""Words of the caller, the call's name, a fact and what its write brought back."""

app = typer.Typer()
app.command()(command)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    monkeypatch.setenv("CUECARD_DATA_DIR", str(tmp_path / "data"))
    get_settings.cache_clear()
    returns.WRITTEN.clear()
    yield get_settings()
    get_settings.cache_clear()


async def have_a_call(
    engine: Engine, procedure: Path, name: str, said: tuple[str, ...] = SAID, tenant: str = "acme"
) -> None:
    session = await engine.session(str(procedure), session_id=name, context=Context(tenant=tenant))
    for words in said:
        await session.ask(words)
        await session.settle()
    await session.hang_up()


async def have_calls(settings: Settings, procedure: Path) -> None:
    async with Engine.open(settings) as engine:
        await have_a_call(engine, procedure, "zanzibar")
        await have_a_call(engine, procedure, "kept", ("hello, a xylophone",), tenant="other")


def holding(folder: Path, mark: bytes) -> list[str]:
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and mark in path.read_bytes()
    )


def left_of(folder: Path) -> dict[bytes, list[str]]:
    return {mark: files for mark in MARKS if (files := holding(folder, mark))}


def test_nothing_of_a_forgotten_call_is_left_in_the_data_folder(settings: Settings, tmp_path: Path) -> None:
    asyncio.run(have_calls(settings, write_returns(tmp_path)))
    assert returns.WRITTEN == ["918273"]
    assert left_of(settings.data_dir).keys() >= {b"pizzicato", b"zanzibar", b"918273", b"RT-77"}
    result = CliRunner().invoke(app, ["zanzibar", "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout.splitlines()[-1])["n_turns"] == len(SAID)
    assert left_of(settings.data_dir) == {}
    assert len(holding(settings.data_dir, b"xylophone")) >= 3, "the other call is where it was"
    assert not (settings.data_dir / "events" / "acme").exists()


def test_a_running_server_need_not_stop_for_a_call_to_be_forgotten(settings: Settings, tmp_path: Path) -> None:
    async def serve_meanwhile() -> None:
        async with Engine.open(settings) as engine:
            await have_a_call(engine, procedure, "zanzibar")
            assert engine.services.precedents is not None
            await engine.services.precedents.flush()
            result = await asyncio.to_thread(CliRunner().invoke, app, ["zanzibar"])
            assert result.exit_code == 0, result.output
            assert left_of(settings.data_dir) == {}
            await have_a_call(engine, procedure, "kept", ("hello, a xylophone",))

    procedure = write_returns(tmp_path)
    asyncio.run(serve_meanwhile())


def test_a_call_that_left_nothing_but_checkpoints_is_found_by_its_name(settings: Settings, tmp_path: Path) -> None:
    async def cut_off() -> None:
        silent = settings.model_copy(update={"event_logs": False})
        async with Engine.open(silent) as engine:
            session = await engine.session(str(procedure), session_id="zanzibar", context=Context(tenant="acme"))
            session._trigger.submit = lambda *_: None  # type: ignore[method-assign]
            await session.ask(SAID[0])

    procedure = write_returns(tmp_path)
    asyncio.run(cut_off())
    assert left_of(settings.data_dir)
    result = CliRunner().invoke(app, ["zanzibar", "--tenant", "acme"])
    assert result.exit_code == 0, result.output
    assert left_of(settings.data_dir) == {}


def test_one_date_clears_checkpoints_slices_logs_writes_and_precedents(settings: Settings, tmp_path: Path) -> None:
    async def sweep(before: float) -> None:
        async with Engine.open(settings) as engine, open_storage(settings, persist=True) as storage:
            await Retention(engine.services, storage).sweep(before)

    asyncio.run(have_calls(settings, write_returns(tmp_path)))
    asyncio.run(sweep(time.time() - DAY_S))
    assert left_of(settings.data_dir).keys() >= {b"pizzicato", b"zanzibar", b"918273", b"RT-77"}
    _age(settings.data_dir / "events")
    asyncio.run(sweep(time.time() + DAY_S))
    assert left_of(settings.data_dir) == {}
    assert holding(settings.data_dir, b"xylophone") == []


def test_the_process_that_serves_sweeps_by_itself_when_it_starts(settings: Settings, tmp_path: Path) -> None:
    old = settings.data_dir / "events" / "acme" / "zanzibar.jsonl"
    young = settings.data_dir / "events" / "acme" / "kept.jsonl"
    old.parent.mkdir(parents=True)
    for path in (old, young):
        path.write_text("{}\n")
    _age(old.parent, "zanzibar.jsonl")

    async def serve() -> None:
        async with Engine.open(settings), asyncio.timeout(10.0):
            while await asyncio.to_thread(old.exists):  # noqa: ASYNC110 - a file tells nobody that it is gone
                await asyncio.sleep(0.01)

    asyncio.run(serve())
    assert young.exists()


def test_a_graph_server_sweeps_too(settings: Settings) -> None:
    async def serve() -> None:
        old = settings.data_dir / "events" / "acme" / "zanzibar.jsonl"
        await asyncio.to_thread(_write_old, old)
        async with checkpointer(), asyncio.timeout(10.0):
            while await asyncio.to_thread(old.exists):  # noqa: ASYNC110 - a file tells nobody that it is gone
                await asyncio.sleep(0.01)

    asyncio.run(serve())


def test_a_place_that_cannot_be_swept_keeps_no_other_from_it(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_before: float) -> Outdated:
        raise OSError("the disk is gone")

    async def sweep() -> None:
        async with Engine.open(settings) as engine, open_storage(settings, persist=True) as storage:
            log = settings.data_dir / "events" / "acme" / "zanzibar.jsonl"
            await asyncio.to_thread(_write_old, log)
            await Retention(engine.services, storage._replace(outdated=broken)).sweep(time.time())
            assert not await asyncio.to_thread(log.exists)

    asyncio.run(sweep())
    assert "the disk is gone" in caplog.text


def test_postgresql_is_swept_by_the_same_date(settings: Settings, tmp_path: Path, postgres_url: str) -> None:
    async def call(shared: Settings) -> None:
        async with Engine.open(shared) as engine, open_storage(shared, persist=True) as storage:
            await have_a_call(engine, write_returns(tmp_path), "zanzibar")
            assert engine.services.precedents is not None
            await engine.services.precedents.flush()
            sweeps = Retention(engine.services, storage)
            await sweeps.sweep(time.time() - DAY_S)
            assert await _n_rows(postgres_url, *TABLES) > 10
            assert await storage.outdated(time.time() - DAY_S) == Outdated()
            await sweeps.sweep(time.time() + DAY_S)
            assert await _n_rows(postgres_url, *TABLES) == 0

    asyncio.run(call(settings.model_copy(update={"database_url": postgres_url})))


def test_checkpoint_ids_sort_by_the_time_they_were_made_at() -> None:
    from langgraph.checkpoint.base.id import uuid6

    now = time.time()
    made = str(uuid6())
    assert first_id(now - 1.0) < made < first_id(time.time() + 1.0)
    assert len(first_id(now)) == len(made[:18])


def test_storage_in_memory_has_nothing_to_sweep(settings: Settings) -> None:
    async def found() -> Outdated:
        storage: Storage
        async with open_storage(settings, persist=False) as storage:
            return await storage.outdated(time.time() + DAY_S)

    assert asyncio.run(found()) == Outdated()


TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes", "store", "cuecard_writes", "precedent_words")


async def _n_rows(url: str, *tables: str) -> int:
    import psycopg

    async with await psycopg.AsyncConnection.connect(url) as connection:
        counts: list[Any] = []
        for table in tables:
            counts += await (await connection.execute(f"SELECT count(*) FROM {table}".encode())).fetchone() or ()
        return sum(counts)


def _write_old(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}\n")
    os.utime(path, (0, 0))


def _age(folder: Path, pattern: str = "*.jsonl") -> None:
    for path in folder.rglob(pattern):
        os.utime(path, (0, 0))

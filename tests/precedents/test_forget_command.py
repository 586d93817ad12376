"""`cuecard forget` finds what is meant by a name, and takes it out of every place."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from cuecard.blackboard import namespace
from cuecard.cli.forget import command
from cuecard.precedents import Precedents
from cuecard.session.forgetting import traces
from cuecard.session.storage import open_storage
from cuecard.settings import Settings, get_settings
from tests.precedents.calls import call

app = typer.Typer()
app.command()(command)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    monkeypatch.setenv("CUECARD_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("CUECARD_DATABASE_URL", raising=False)
    get_settings.cache_clear()
    asyncio.run(_fill(get_settings()))
    yield get_settings()
    get_settings.cache_clear()


async def _fill(settings: Settings) -> None:
    store = await Precedents.open(settings.data_dir / "precedents.sqlite")
    await store.record(call("monday", "abc") + call("tuesday", "ab") + call("monday", "a", tenant="other"))
    await store.close()
    async with open_storage(settings, persist=True) as storage:
        for tenant, session in (("acme", "monday"), ("acme", "tuesday"), ("other", "monday")):
            await storage.store.aput(namespace(tenant, session), "slice", {"words": "hello"}, index=False)
            log = settings.data_dir / "events" / tenant / f"{session}.jsonl"
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text("{}\n")


async def _traces(settings: Settings) -> set[tuple[str, str]]:
    async with open_storage(settings, persist=True) as storage:
        return await traces(settings, storage)


def test_a_call_is_forgotten_in_the_counts_on_the_blackboard_and_in_the_log(settings: Settings) -> None:
    result = CliRunner().invoke(app, ["tuesday", "--json"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout.splitlines()[-1])
    assert told == {"kind": "call", "name": "tuesday", "tenant": "acme", "n_turns": 2}
    assert asyncio.run(_traces(settings)) == {("acme", "monday"), ("other", "monday")}


def test_a_name_that_two_tenants_use_must_be_told_apart(settings: Settings) -> None:
    result = CliRunner().invoke(app, ["monday"])
    assert result.exit_code == 2
    assert "acme, other" in result.output
    result = CliRunner().invoke(app, ["monday", "--tenant", "other"])
    assert result.exit_code == 0, result.output
    assert asyncio.run(_traces(settings)) == {("acme", "monday"), ("acme", "tuesday")}


def test_a_tenant_is_forgotten_with_all_its_calls(settings: Settings) -> None:
    result = CliRunner().invoke(app, ["acme", "--yes", "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout.splitlines()[-1])["n_turns"] == 5
    assert asyncio.run(_traces(settings)) == {("other", "monday")}


def test_a_name_that_means_nothing_is_an_error(settings: Settings) -> None:
    result = CliRunner().invoke(app, ["nobody"])
    assert result.exit_code == 2
    assert "Nothing is stored under nobody" in result.output

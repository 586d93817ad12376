"""The doctor finds what is broken and says what to do about it."""

import asyncio
import json
from pathlib import Path

import pytest

from cuecard import doctor
from cuecard.settings import Settings


async def test_a_sound_installation_has_nothing_broken(settings: Settings) -> None:
    findings = await doctor.examine(settings)
    assert [finding for finding in findings if finding.status == "broken"] == []
    told = {finding.what: finding for finding in findings}
    assert "insurance_renewal" in told["procedures"].found
    assert "English" in told["language"].found
    assert "OPENAI_API_KEY" in told["chat model"].remedy


async def test_a_data_folder_that_is_a_file_is_broken(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (finding,) = await doctor._data_folder(Settings(data_dir=tmp_path / "file" / "data"))
    assert finding.status == "broken"
    assert "CUECARD_DATA_DIR" in finding.remedy


async def test_a_database_that_is_not_there_is_told_with_the_variable(tmp_path: Path) -> None:
    (finding,) = await doctor._database(Settings(database_url=f"postgresql://x@/x?host={tmp_path}"))
    assert finding.status == "broken"
    assert "CUECARD_DATABASE_URL" in finding.remedy


async def test_a_database_that_is_there_is_told_with_its_version(postgres_url: str) -> None:
    (finding,) = await doctor._database(Settings(database_url=postgres_url))
    assert finding.status == "ok"
    assert finding.found.startswith("PostgreSQL")


async def test_graphs_by_file_path_and_an_open_studio_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = {"graphs": {"responder": "./graphs/responder.py:graph"}, "auth": {"path": "auth.py:auth"}}
    await asyncio.to_thread(Path("langgraph.json").write_text, json.dumps(config))
    findings = await doctor._langgraph(Settings())
    assert [finding.status for finding in findings] == ["broken", "broken"]
    assert "graphs.responder:graph" in findings[0].remedy
    assert "disable_studio_auth" in findings[1].remedy


async def test_an_unforeseen_failure_of_a_check_is_a_finding(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def breaks(_: Settings) -> list[doctor.Finding]:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(doctor, "_weights", breaks)
    findings = await doctor.examine(settings)
    assert any("ZeroDivisionError" in finding.found for finding in findings)


async def test_a_trained_model_that_is_not_there_is_told_with_the_variable(tmp_path: Path) -> None:
    assert await doctor._learned(Settings(learned_model=None)) == []
    (finding,) = await doctor._learned(Settings(learned_model=tmp_path / "model.onnx"))
    assert finding.status == "broken"
    assert "CUECARD_LEARNED_MODEL" in finding.remedy

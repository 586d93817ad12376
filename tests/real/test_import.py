import asyncio
from pathlib import Path

import orjson
import pytest
from rich.progress import Progress

from cuecard.precedents import Precedents
from cuecard.predictors.counts import CountKey
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.settings import Settings
from evals.real import import_run
from evals.real.drawings import drawn_from
from evals.real.import_run import run_import
from evals.real.sessions import BadLine, DataError, Loaded, Session
from evals.real.star_layout import read_star, read_star_drawings
from evals.real.views import turn_views, view_at
from sops.checks.run import check_file
from tests.predictors.test_drawn import CHART
from tests.real.calls import balance_call, raw, said, user


def calls(n: int) -> list[Session]:
    return [Session.model_validate(balance_call(number)) for number in range(1, n + 1)]


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(import_run, "get_settings", lambda: Settings(data_dir=tmp_path))
    return tmp_path


async def run(loaded: Loaded, said_lines: list[str] | None = None) -> dict[str, object]:
    say = (said_lines if said_lines is not None else []).append
    with Progress(disable=True) as bar:
        return await run_import(loaded, {"table": CHART}, "t", False, None, bar, say)


async def test_an_import_leaves_a_store_that_predicts(data_dir: Path) -> None:
    await run(Loaded(calls(30), []))
    store = await Precedents.open(data_dir / "precedents.sqlite")
    try:
        turns = turn_views(calls(31)[30])
        forecast = await EmpiricalPredictor(store.counts("t"), lambda _: None).predict(view_at(turns, 1))
    finally:
        await store.close()
    assert forecast.actions[0]["query:bank"] > 0.9
    assert forecast.sources[0]["bank"] > 0.9


async def test_importing_twice_counts_once(data_dir: Path) -> None:
    key = CountKey("bank", "action", 1, ("sop",))
    rows = []
    for _ in range(2):
        await run(Loaded(calls(5), []))
        store = await Precedents.open(data_dir / "precedents.sqlite")
        rows.append(dict((await store.counts("t").read([key]))[0]))
        await store.close()
    assert rows[0] == pytest.approx(rows[1])
    assert sum(rows[0].values()) > 0


async def test_a_second_import_says_which_sessions_were_known(data_dir: Path) -> None:
    first = await run(Loaded(calls(5), []))
    again = await run(Loaded(calls(7), []))
    assert (first["n_sessions"], first["n_known"]) == (5, 0)
    assert (again["n_sessions"], again["n_known"]) == (7, 5)


async def test_a_call_through_two_procedures_teaches_each_its_own(data_dir: Path) -> None:
    wander = raw(
        1, user("a"), said("x", task="bank"), user("b"), said("y", task="ride"), user("c"), said("z", task="ride")
    )
    result = await run(Loaded([Session.model_validate({**wander, "sop": ["bank", "ride"]})], []))
    assert (result["n_sessions"], result["n_calls"], result["n_turns"]) == (1, 2, 3)


async def test_bad_lines_are_said_and_nothing_good_is_no_silent_success(data_dir: Path) -> None:
    lines: list[str] = []
    result = await run(Loaded(calls(2), [BadLine(3, "not JSON")]), lines)
    assert lines == ["line 3 skipped: not JSON"]
    assert result["skipped"] == [{"line": 3, "why": "not JSON"}]
    with pytest.raises(DataError, match="nothing was imported"):
        await run(Loaded([], [BadLine(1, "x")]))


def test_a_drawn_chart_becomes_a_procedure_without_errors_and_is_not_written_over(data_dir: Path) -> None:
    asyncio.run(run(Loaded(calls(1), [])))
    path = data_dir / "procedures" / "table.yaml"
    assert [finding for finding in check_file(path) if finding.level == "error"] == []
    path.write_text("mine", encoding="utf-8")
    asyncio.run(run(Loaded(calls(1), [])))
    assert path.read_text(encoding="utf-8") == "mine"


def test_stars_own_layout_reads_as_the_session_format(tmp_path: Path) -> None:
    events = [
        {"Agent": "UserGuide", "Action": "instruct", "Text": "Be slow.", "UnixTime": 1},
        {"Agent": "User", "Action": "utter", "Text": "A ride please", "UnixTime": 2},
        {
            "Agent": "Wizard",
            "Action": "query",
            "ActionLabel": "query",
            "API": "ride",
            "Constraints": [{"id": "7"}],
            "UnixTime": 3,
        },
        {"Agent": "KnowledgeBase", "Action": "return_item", "Item": {"Wait": 5}, "TotalItems": 1, "UnixTime": 4},
        {
            "Agent": "Wizard",
            "Action": "pick_suggestion",
            "ActionLabel": "ride_status",
            "Text": "Five minutes",
            "UnixTime": 5,
        },
        {"Agent": "Wizard", "Action": "utter", "Text": "Bye now", "UnixTime": 6},
        {"Agent": "User", "Action": "complete", "UnixTime": 7},
    ]
    scenario = {"WizardCapabilities": [{"Task": "ride", "Domain": "ride"}], "Domains": ["ride"]}
    (tmp_path / "dialogues").mkdir()
    (tmp_path / "dialogues" / "1.json").write_bytes(
        orjson.dumps({"DialogueID": 1, "Scenario": scenario, "Events": events, "CompletionLevel": "Complete"})
    )
    (tmp_path / "dialogues" / "2.json").write_bytes(b"{")
    (tmp_path / "tasks" / "ride").mkdir(parents=True)
    (tmp_path / "tasks" / "ride" / "ride.json").write_bytes(
        orjson.dumps({"task": "ride", "replies": {"hello": "Hello."}, "graph": {}})
    )
    loaded = read_star(tmp_path)
    assert [bad.number for bad in loaded.bad] == [2]
    turns = turn_views(loaded.sessions[0])
    assert [(turn.label, turn.action, turn.source) for turn in turns] == [("query:ride", "freeform", "ride")]
    assert turns[0].utterance == "A ride please"
    assert set(drawn_from(read_star_drawings(tmp_path), tmp_path)) == {"ride"}

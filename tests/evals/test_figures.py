"""The contract of `cuecard eval`: names, fields and verdicts, on rows whose sums can be done by hand."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cuecard.settings import Settings
from evals.experiments import registry, runner
from evals.experiments.bars import BarError, bar_path, load_bar
from evals.experiments.command import run_experiments
from evals.experiments.e01 import run as e01
from evals.experiments.e08 import run as e08
from evals.experiments.results import read
from evals.experiments.tools import Tools
from evals.experiments.types import Experiment, Measure, Options, Row, Unit
from evals.reports.verdict import judge
from tests.evals.recorded import recorded_run

FIELDS = {"hidden_pct", "regret_s", "stall_s_per_call", "p95_turn_stall_s", "fetches", "wasted"}


@pytest.fixture
def rows(tmp_path: Path) -> list[Row]:
    results = read(recorded_run(tmp_path) / "results.jsonl")
    assert results is not None
    return results.measured


def test_e8_gives_each_policy_the_promised_fields(rows: list[Row]) -> None:
    found = e08.figures(rows)["insurance_renewal"]
    assert list(found) == ["none", "all_at_identity", "ours", "oracle"]
    assert all(set(one) >= FIELDS for one in found.values())
    # None waits 9 s, ours 3 and the oracle 2, each plus the seed: 6 of 7 seconds are hidden.
    assert found["ours"]["hidden_pct"] == 86
    assert found["ours"]["regret_s"] == 1.0
    assert found["ours"]["stall_s_per_call"] == 4.0
    assert found["all_at_identity"]["hidden_pct"] == 71
    assert found["oracle"]["hidden_pct"] == 100
    assert found["ours"]["wasted"] == 2.0


def test_a_missed_bar_is_missed_however_close(rows: list[Row]) -> None:
    bar = load_bar(bar_path("E8"))
    near = Measure(96.99, 95.0, 98.0, 40)
    verdict = judge(bar, {"hidden_pct_worst": near, "wasted_worst": Measure(1.0, 1.0, 1.0, 40)})
    assert verdict.verdict == "missed"
    line = verdict.to_json()
    assert {"name", "bar", "value", "ci", "n", "verdict"} <= set(line)
    assert (line["value"], line["ci"], line["n"]) == (96.99, [95.0, 98.0], 40)


def test_an_unmeasured_limit_never_passes() -> None:
    bar = load_bar(bar_path("E8"))
    assert judge(bar, {"hidden_pct_worst": Measure(99.0, 98.0, 100.0, 40)}).verdict == "not measured"


def test_experiments_without_model_or_data_say_so_and_do_not_pass(tmp_path: Path, settings: Settings) -> None:
    outcome = run_experiments(["E5", "E13"], Options(), settings, tmp_path)
    assert [line["verdict"] for line in outcome.lines] == ["not run: no model", "not run: no data"]
    assert not outcome.results


def _counting(played: list[str]) -> Experiment:
    def units(options: Options) -> list[Unit]:
        return [{"key": f"call/{seed}"} for seed in options.calls(4, 2)]

    async def play(unit: Unit, tools: Tools) -> list[Row]:
        if len(played) == 3:
            raise KeyboardInterrupt
        played.append(unit["key"])
        return [{"seed": unit["key"]}]

    return replace(e01.EXPERIMENT, units=units, play=play, parallel=False)


def test_an_interrupted_run_goes_on_where_it_stopped(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[str] = []
    monkeypatch.setattr(registry, "load", lambda name: _counting(played))
    with pytest.raises(KeyboardInterrupt):
        runner.run("E1", Options(), tmp_path, settings=settings)
    kept = read(tmp_path / "results.jsonl")
    assert kept is not None
    assert len(kept.done) == 3
    played.clear()
    results = runner.run("E1", Options(), tmp_path, settings=settings)
    assert played == ["call/500003"]
    assert len(results.done) == 4


def test_a_run_under_a_moved_bar_is_refused(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    bar = tmp_path / "bar.yaml"
    bar.write_bytes(bar_path("E1").read_bytes())
    monkeypatch.setattr(runner, "bar_path", lambda name: bar)
    monkeypatch.setattr(registry, "load", lambda name: _counting([]))
    runner.run("E1", Options(seeds=1), tmp_path / "run", settings=settings)
    bar.write_text(bar.read_text(encoding="utf-8").replace("0.60", "0.10"), encoding="utf-8")
    with pytest.raises(BarError, match="edited since the run"):
        runner.run("E1", Options(seeds=2), tmp_path / "run", settings=settings)


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for one in value.values():
            yield from _numbers(one)
    elif isinstance(value, float):
        yield value


def test_experiments_without_rows_have_no_figures_to_boast_of() -> None:
    for name in ("E1", "E4", "E8", "E12"):
        assert not list(_numbers(registry.load(name).measures([])))

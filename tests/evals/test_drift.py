"""Reports belong to their rows and bars: whatever of the three is changed, the check says so."""

import subprocess
from pathlib import Path

import pytest

from evals.experiments import registry
from evals.experiments.bars import BarError, bar_path, before_run, committed, load_bar, sha256_of
from evals.experiments.check import check, drift
from evals.experiments.results import read
from tests.evals.recorded import BEGUN_AT, recorded_run


def test_the_reports_in_the_repository_are_what_their_rows_give() -> None:
    assert list(check()) == []


def test_an_untouched_run_has_not_drifted(tmp_path: Path) -> None:
    assert drift(recorded_run(tmp_path), tmp_path) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"stall_s":3.0', b'"stall_s":2.9'),
        (b'"hits":[2,1,0]', b'"hits":[3,1,0]'),
        (b'"goal":"renew"', b'"goal":"leave"'),
    ],
)
def test_one_changed_event_makes_the_check_fail(tmp_path: Path, old: bytes, new: bytes) -> None:
    folder = recorded_run(tmp_path)
    rows = folder / "results.jsonl"
    text = rows.read_bytes()
    assert old in text
    rows.write_bytes(text.replace(old, new, 1))
    assert any("is not what the recorded rows and the bar give" in line for line in drift(folder, tmp_path))


def test_one_lost_event_makes_the_check_fail(tmp_path: Path) -> None:
    folder = recorded_run(tmp_path)
    rows = folder / "results.jsonl"
    lines = rows.read_bytes().splitlines(keepends=True)
    rows.write_bytes(b"".join(lines[:2] + lines[3:]))
    assert drift(folder, tmp_path)


def test_a_lowered_bar_makes_the_check_fail_and_it_says_how_it_knows(tmp_path: Path) -> None:
    folder = recorded_run(tmp_path)
    bar = folder / "bar.yaml"
    bar.write_text(bar.read_text(encoding="utf-8").replace("value: 97.0", "value: 50.0"), encoding="utf-8")
    (found, *_) = drift(folder, tmp_path)
    assert "edited since the run" in found
    assert "sha256" in found


def test_a_polished_report_makes_the_check_fail(tmp_path: Path) -> None:
    folder = recorded_run(tmp_path)
    report = folder / "report.md"
    report.write_text(report.read_text(encoding="utf-8").replace("missed", "met"), encoding="utf-8")
    assert drift(folder, tmp_path)


def _git(folder: Path, *args: str, at: str) -> None:
    names = {"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.com", "GIT_COMMITTER_NAME": "t"}
    env = {
        **names,
        "GIT_COMMITTER_EMAIL": "t@example.com",
        "GIT_COMMITTER_DATE": at,
        "GIT_AUTHOR_DATE": at,
        "HOME": str(folder),
    }
    subprocess.run(
        ["git", "-C", str(folder), *args], check=True, capture_output=True, env={**env, "PATH": "/usr/bin:/bin"}
    )


def _in_git(folder: Path, at: str) -> Path:
    _git(folder, "init", "-q", at=at)
    _git(folder, "add", "-A", at=at)
    _git(folder, "commit", "-q", "-m", "bar", at=at)
    return bar_path("E8", folder)


def test_a_bar_committed_after_the_run_is_refused_by_git_log(tmp_path: Path) -> None:
    recorded_run(tmp_path)
    bar = _in_git(tmp_path, "2030-01-01T00:00:00Z")
    with pytest.raises(BarError, match="git log dates its last commit"):
        before_run(bar, sha256_of(bar), BEGUN_AT)


def test_a_bar_committed_before_the_run_is_known_by_git_log(tmp_path: Path) -> None:
    recorded_run(tmp_path)
    bar = _in_git(tmp_path, "2020-01-01T00:00:00Z")
    assert committed(bar).known_by == "git log"
    assert "git log" in before_run(bar, sha256_of(bar), BEGUN_AT)


def test_a_bar_with_uncommitted_changes_may_not_be_run(tmp_path: Path) -> None:
    recorded_run(tmp_path)
    bar = _in_git(tmp_path, "2020-01-01T00:00:00Z")
    bar.write_text(bar.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with pytest.raises(BarError, match="not committed"):
        committed(bar)


def test_every_experiment_has_a_bar_of_its_own_name_with_measures_to_judge() -> None:
    assert registry.names() == [f"E{n}" for n in range(1, 14)]
    for name in registry.names():
        bar = load_bar(bar_path(name))
        assert bar.experiment == registry.load(name).name == name
        assert "garbage" in bar.beside or bar.needs == "model" or name in {"E9", "E11", "E12"}


def test_rows_of_an_interrupted_unit_are_not_counted(tmp_path: Path) -> None:
    folder = recorded_run(tmp_path)
    rows = folder / "results.jsonl"
    lines = rows.read_bytes().splitlines(keepends=True)
    rows.write_bytes(b"".join(lines[:-1]) + lines[-1][:10])
    results = read(rows)
    assert results is not None
    assert len(results.done) == 2
    assert {row["seed"] for row in results.measured} == {0, 1}

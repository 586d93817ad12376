"""What `cuecard eval` does, apart from printing: runs experiments, judges them, keeps rows, reports and the page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuecard.settings import Settings
from evals.experiments import registry
from evals.experiments.bars import FOLDER, bar_path, load_bar
from evals.experiments.check import write_report
from evals.experiments.results import Results
from evals.experiments.runner import run
from evals.experiments.types import CannotRun, Options

Advance = Callable[[str, int, int], None]


@dataclass(slots=True)
class Outcome:
    """What came of the experiments that were asked for."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    """One an experiment: name, bar, value, ci, n, verdict."""
    figures: dict[str, dict[str, Any]] = field(default_factory=dict)
    results: dict[str, Results] = field(default_factory=dict)
    page: Path | None = None


def run_experiments(
    names: Sequence[str],
    options: Options,
    settings: Settings,
    out: Path,
    *,
    advance: Advance = lambda name, done, total: None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Runs them one after another; one that lacks a model or data says so, and the others go on."""
    from evals.reports.verdict import judge, not_run

    outcome = Outcome()
    for asked in names:
        experiment = registry.load(asked)
        name = experiment.name
        bar = load_bar(bar_path(name))
        folder = out / f"e{int(name[1:]):02d}"
        try:
            results = run(
                name,
                options,
                folder,
                settings=settings,
                advance=lambda done, total, name=name: advance(name, done, total),  # type: ignore[misc]
                say=say,
            )
        except CannotRun as why:
            outcome.lines.append(not_run(bar, str(why)))
            continue
        rows = results.measured
        outcome.lines.append(judge(bar, experiment.measures(rows)).to_json())
        outcome.figures[name] = experiment.figures(rows)
        outcome.results[name] = results
        write_report(folder, results)
    return outcome


def write_page(outcome: Outcome, out: Path) -> Path:
    """All reports of this outcome as one HTML file."""
    from evals.reports.document import document
    from evals.reports.page import page

    path = out / "report.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    documents = [document(results) for results in outcome.results.values()]
    path.write_text(page(documents, outcome.lines), encoding="utf-8")
    return path


def recorded_outcome(experiments: Path = FOLDER) -> Outcome:
    """The runs that are kept beside their bars, judged again."""
    from evals.experiments.results import read
    from evals.reports.verdict import judge, not_run

    outcome = Outcome()
    for name in registry.names():
        experiment = registry.load(name)
        bar = load_bar(bar_path(name, experiments))
        results = read(bar_path(name, experiments).with_name("results.jsonl"))
        if results is None:
            why = {"model": "not run: no model", "data": "not run: no data"}.get(bar.needs, "not run")
            outcome.lines.append(not_run(bar, why))
            continue
        outcome.lines.append(judge(bar, experiment.measures(results.measured)).to_json())
        outcome.results[name] = results
    return outcome

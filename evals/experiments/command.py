"""What `cuecard eval` does, apart from printing: runs experiments, judges them, keeps rows, reports and the page."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuecard.models.chat import describe
from cuecard.settings import Settings
from evals.experiments import registry
from evals.experiments.bars import FOLDER, Bar, bar_path, load_bar
from evals.experiments.check import WITH_MODEL, write_report
from evals.experiments.results import Results, publish, read
from evals.experiments.runner import RESULTS, run
from evals.experiments.types import CannotRun, Options

Advance = Callable[[str, int, int], None]


@dataclass(slots=True)
class Outcome:
    """What came of the experiments that were asked for."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    """One an experiment: name, bar, value, ci, n, verdict."""
    figures: dict[str, dict[str, Any]] = field(default_factory=dict)
    results: dict[str, Results] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    """Experiments that an error stopped."""


def run_experiments(
    names: Sequence[str],
    options: Options,
    settings: Settings,
    out: Path,
    *,
    mark: str = "",
    again: bool = False,
    keep_in: Path | None = None,
    advance: Advance = lambda name, done, total: None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Runs them one after another; one that fails, or lacks a model or data, says so, and the others go on.

    Rows grow in `out`. With `keep_in` a finished run then takes the place of the one kept there, at once and whole; a
    run in which a chat model took part goes to its subfolder `with_model`.
    """
    from evals.reports.verdict import not_run

    outcome = Outcome()
    for asked in names:
        name = registry.load(asked).name
        bar = load_bar(bar_path(name))
        began_s = time.monotonic()
        try:
            results = run(
                name,
                options,
                out / _folder(name),
                settings=settings,
                mark=mark,
                again=again,
                advance=lambda done, total, name=name: advance(name, done, total),  # type: ignore[misc]
                say=say,
            )
            line = _judged(name, bar, results)
            if keep_in is not None:
                kept = keep_in / (WITH_MODEL if results.header.model else "") / _folder(name)
                results = publish(results, kept / RESULTS)
            write_report(results.path.parent, results)
        except CannotRun as why:
            outcome.lines.append(not_run(bar, str(why)))
            continue
        except Exception as error:  # noqa: BLE001 - whatever stopped one experiment must not stop the others
            say(f"{name}: {describe(error)}")
            outcome.failed.append(name)
            outcome.lines.append(not_run(bar, f"failed: {describe(error)}"))
            continue
        outcome.lines.append({**line, "took_s": round(time.monotonic() - began_s, 1)})
        outcome.figures[name] = registry.load(name).figures(results.measured)
        outcome.results[name] = results
    return outcome


def _folder(name: str) -> str:
    return f"e{int(name[1:]):02d}"


def _judged(name: str, bar: Bar, results: Results) -> dict[str, Any]:
    from evals.reports.verdict import judge

    line = judge(bar, registry.load(name).measures(results.measured)).to_json()
    return line if not results.header.mark else {**line, "model": results.header.mark}


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
    """The runs that are kept beside their bars, judged again; those with a chat model after the others."""
    from evals.reports.verdict import not_run

    outcome = Outcome()
    for name in registry.names():
        bar = load_bar(bar_path(name, experiments))
        results = read(experiments / _folder(name) / RESULTS)
        if results is None:
            why = {"model": "not run: no model", "data": "not run: no data"}.get(bar.needs, "not run")
            outcome.lines.append(not_run(bar, why))
            continue
        _add(outcome, name, name, bar, results)
    for name in registry.names():
        if (results := read(experiments / WITH_MODEL / _folder(name) / RESULTS)) is not None:
            named = f"{name} {results.header.mark or results.header.model}"
            _add(outcome, named, name, load_bar(bar_path(name, experiments)), results)
    return outcome


def _add(outcome: Outcome, named: str, name: str, bar: Bar, results: Results) -> None:
    """One kept run, or a line that says why its rows give no report any more."""
    from evals.reports.document import document
    from evals.reports.verdict import not_run

    try:
        line = _judged(name, bar, results)
        document(results)
    except (KeyError, TypeError, ValueError) as error:
        outcome.failed.append(named)
        outcome.lines.append({**not_run(bar, f"rows of an older kind: {describe(error)}"), "name": named})
        return
    outcome.lines.append({**line, "name": named})
    outcome.results[named] = results

"""Regenerates reports from recorded rows and bars, and says what has drifted."""

from collections.abc import Iterable
from pathlib import Path

from cuecard.errors import CuecardError
from evals.experiments.bars import FOLDER, bar_path, before_run, load_bar
from evals.experiments.results import Results, read

WITH_MODEL = "with_model"
"""Folder of kept runs in which a chat model took part; the same bars, far fewer units."""


def report_of(results: Results, experiments: Path = FOLDER) -> str:
    """The Markdown that belongs to these rows and this bar."""
    from evals.reports.document import document
    from evals.reports.markdown import markdown

    return markdown(document(results, experiments))


def write_report(folder: Path, results: Results, experiments: Path = FOLDER) -> None:
    (folder / "report.md").write_text(report_of(results, experiments), encoding="utf-8")


def recorded(experiments: Path = FOLDER) -> list[Path]:
    """Folders that hold a recorded run."""
    alone = sorted(path.parent for path in experiments.glob("e[0-9][0-9]/results.jsonl"))
    return alone + sorted(path.parent for path in experiments.glob(f"{WITH_MODEL}/e[0-9][0-9]/results.jsonl"))


def drift(folder: Path, experiments: Path = FOLDER) -> list[str]:
    """What is wrong with one recorded run; empty when bar, rows and report belong together."""
    results = read(folder / "results.jsonl")
    if results is None:
        return [f"{folder}: results.jsonl cannot be read"]
    header = results.header
    bar = bar_path(header.experiment, experiments)
    found = []
    try:
        load_bar(bar)
        before_run(bar, header.bar_sha256, header.begun_at)
    except CuecardError as error:
        found.append(str(error))
    early = [row for row in results.rows if row.get("at") is not None and row["at"] < header.begun_at - 1.0]
    if early:
        found.append(f"{folder}: {len(early)} rows are older than the run")
    report = folder / "report.md"
    if not report.is_file():
        return [*found, f"{report}: missing; write it with `cuecard eval {header.experiment} --record`"]
    try:
        same = report.read_text(encoding="utf-8") == report_of(results, experiments)
    except (CuecardError, KeyError, TypeError, ValueError) as error:
        return [*found, f"{folder}: no report can be made of the recorded rows ({error!r})"]
    if not same:
        found.append(f"{report}: is not what the recorded rows and the bar give; one of the three was changed")
    return found


def check(experiments: Path = FOLDER) -> Iterable[str]:
    """All that has drifted, over all recorded runs."""
    for folder in recorded(experiments):
        yield from drift(folder, experiments)

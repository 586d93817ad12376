"""One experiment's report as data: the verdict, where it comes from, and its sections."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evals.experiments import registry
from evals.experiments.bars import FOLDER as EXPERIMENTS
from evals.experiments.bars import Bar, bar_path, load_bar
from evals.experiments.results import Results
from evals.experiments.types import Section
from evals.reports.verdict import Verdict, judge


@dataclass(frozen=True, slots=True)
class Document:
    bar: Bar
    verdict: Verdict
    origin: Sequence[str]
    """How it came about: one fact a line."""
    sections: Sequence[Section]
    data: str
    mark: str = ""
    """The chat model that took part, in the words of whoever ran it; "" where none did."""

    @property
    def title(self) -> str:
        return f"{self.bar.experiment}: {self.bar.title}" + (f", with a {self.mark}" if self.mark else "")

    @property
    def anchor(self) -> str:
        return f"{self.bar.experiment} {self.mark}".strip().replace(" ", "-")


def document(results: Results, experiments: Path = EXPERIMENTS) -> Document:
    """From recorded rows and the bar alone; the same rows give the same document."""
    experiment = registry.load(results.header.experiment)
    bar = load_bar(bar_path(experiment.name, experiments))
    rows = results.measured
    verdict = judge(bar, experiment.measures(rows))
    header = results.header
    begun = datetime.fromtimestamp(header.begun_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    commit = f", commit {header.bar_commit[:10]}" if header.bar_commit else ""
    mark = f" ({header.mark})" if header.mark else ""
    who = f"chat model {header.model}{mark}" if header.model else "no chat model"
    busy = [] if header.load is None else [f"machine load {header.load:g} when it began"]
    origin = [
        f"run begun {begun}; {len(results.done)} units; product files {header.code}; {who}; {experiment.data} data",
        *busy,
        f"bar known to be older by {header.bar_known_by}{commit}; sha256 of the bar {header.bar_sha256[:16]}",
        f"sha256 of the recorded rows {results.sha256[:16]}",
    ]
    return Document(
        bar, verdict, origin, experiment.sections(rows) if rows else [], experiment.data, header.mark or header.model
    )

"""A report as Markdown: what stands beside the recorded rows in the repository."""

from collections.abc import Iterable, Sequence

from evals.experiments.types import Measure, Plot, Section
from evals.reports.document import Document
from evals.reports.verdict import plain

DIGITS = 4


def markdown(document: Document) -> str:
    """The whole report; pictures as tables, because a picture in Markdown can't be checked for drift."""
    bar, verdict = document.bar, document.verdict
    limits = [
        [str(one.limit), number(one.measure.value), interval(one.measure), one.measure.n, one.verdict]
        for one in verdict.judged
    ]
    few = "" if verdict.enough else f" Fewer than the {bar.n.at_least} {bar.n.what} that the bar asks for."
    parts = [
        f"# {document.title}",
        f"{bar.question} *{document.data.capitalize()} callers.*",
        f"**{verdict.verdict}.**{few} If missed: {bar.if_missed}",
        table(("bar", "value", "95 %", "n", "verdict"), limits),
        *(part for section in document.sections for part in _section(section)),
        "## Where this comes from",
        "\n".join(f"- {line}" for line in document.origin),
    ]
    return "\n\n".join(parts) + "\n"


def _section(section: Section) -> Iterable[str]:
    yield f"## {section.title}"
    if section.text:
        yield section.text
    if section.columns:
        yield table(section.columns, section.rows)
    if section.plot is not None:
        yield f"### {section.plot.title}"
        yield _plot_table(section.plot)


def _plot_table(plot: Plot) -> str:
    columns = (plot.x_label, *(one.name for one in plot.series))
    rows = [[x, *(_with_interval(one.y[n], one.low, one.high, n) for one in plot.series)] for n, x in enumerate(plot.x)]
    return table(columns, rows)


def _with_interval(value: float, low: Sequence[float], high: Sequence[float], n: int) -> str:
    return f"{number(value)} ({number(low[n])} to {number(high[n])})" if low and high else number(value)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns)]
    lines += [f"| {' | '.join(_cell(value) for value in row)} |" for row in rows]
    return "\n".join(lines)


def _cell(value: object) -> str:
    return number(value) if isinstance(value, float) else "-" if value is None else str(value).replace("|", "\\|")


def number(value: float | None) -> str:
    """Short, and the same on every machine."""
    if value is None or plain(value) is None:
        return "-"
    return f"{round(value, DIGITS):g}"


def interval(measure: Measure) -> str:
    if plain(measure.low) is None:
        return "-"
    return f"{number(measure.low)} to {number(measure.high)}"

"""All reports as one HTML page: verdicts first, then each experiment with its pictures. No script, no network."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from evals.experiments.types import Section
from evals.reports.document import Document
from evals.reports.markdown import interval, number
from evals.reports.plots import svg

_STYLE = Path(__file__).with_name("page.css")
_SIGN = {"met": "good", "missed": "bad"}


def page(documents: Sequence[Document], lines: Sequence[dict[str, Any]]) -> str:
    """`lines` are the verdicts of all experiments, those that were not run included."""
    body = [
        "<h1>Does working ahead pay?</h1>",
        "<p>Each experiment had its bar written down and committed before it was run. A missed bar stays here. "
        "Figures say whether callers were simulated; ranges are 95 % intervals.</p>",
        _summary(lines),
        *(_experiment(document) for document in documents),
    ]
    return document_page("Cuecard experiments", body)


def document_page(title: str, body: Sequence[str]) -> str:
    """The parts of a body as a whole document, with the style inside it."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<style>{_STYLE.read_text(encoding='utf-8')}</style></head><body><main>\n"
        + "\n".join(body)
        + "\n</main></body></html>\n"
    )


def _summary(lines: Sequence[dict[str, Any]]) -> str:
    rows = []
    for line in lines:
        low, high = line["ci"]
        between = "-" if low is None else f"{number(low)} to {number(high)}"
        rows.append(
            [f'<a href="#{escape(line["name"].replace(" ", "-"))}">{escape(line["name"])}</a>', escape(line["bar"]),
             number(line["value"]), between, str(line["n"]), _verdict(line["verdict"])]
        )  # fmt: skip
    return table(("experiment", "bar", "value", "95 %", "n", "verdict"), rows)


def _experiment(document: Document) -> str:
    bar, verdict = document.bar, document.verdict
    limits = [
        [escape(str(one.limit)), number(one.measure.value), interval(one.measure), str(one.measure.n),
         _verdict(one.verdict)]
        for one in verdict.judged
    ]  # fmt: skip
    few = "" if verdict.enough else f" Fewer than the {bar.n.at_least} {escape(bar.n.what)} that the bar asks for."
    return "\n".join(
        [
            f'<section id="{escape(document.anchor)}"><h2>{escape(document.title)}</h2>',
            f"<p>{escape(bar.question)} <em>{escape(document.data.capitalize())} callers.</em></p>",
            f"<p>{_verdict(verdict.verdict)}{few} If missed: {escape(bar.if_missed)}</p>",
            table(("bar", "value", "95 %", "n", "verdict"), limits),
            *(part for section in document.sections for part in _section(section)),
            "<ul class=origin>" + "".join(f"<li>{escape(line)}</li>" for line in document.origin) + "</ul></section>",
        ]
    )


def _section(section: Section) -> Iterable[str]:
    yield f"<h3>{escape(section.title)}</h3>"
    if section.text:
        yield f"<p>{escape(section.text)}</p>"
    if section.plot is not None:
        yield f"<figure>{svg(section.plot)}</figure>"
    if section.columns:
        yield table(section.columns, [[escape(_cell(value)) for value in row] for row in section.rows])


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<div class=wide><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _verdict(verdict: str) -> str:
    return f'<strong class="{_SIGN.get(verdict, "open")}">{escape(verdict)}</strong>'


def _cell(value: object) -> str:
    return number(value) if isinstance(value, float) else "-" if value is None else str(value)

"""E5: the same closing turns, their items called guesses, called curated, or left out. Needs a chat model."""

from collections.abc import Sequence
from typing import Any

from evals.experiments.e05.closing import CLOSES, LABELS, closing_turn
from evals.experiments.shared.compared import share
from evals.experiments.shared.scores import difference, shown
from evals.experiments.tools import Tools
from evals.experiments.types import CannotRun, Experiment, Measure, Options, Plot, Row, Section, Series, Unit
from sops.loader import load_procedure

FULL, QUICK = 10, 2


def units(options: Options) -> list[Unit]:
    return [
        {"key": f"{sop}/{seed:07d}", "sop": sop, "seed": seed}
        for seed in options.calls(FULL, QUICK)
        for sop in options.procedures
    ]


async def play(unit: Unit, tools: Tools) -> list[Row]:
    """A row a label: what the model did where the procedure closes the call. Nothing for a call that did not close."""
    if tools.answers is None:
        raise CannotRun("not run: no model")
    engine, sop = await tools.engine(), unit["sop"]
    closing = await closing_turn(engine, sop, unit["seed"])
    if closing is None:
        return []
    actions = load_procedure(sop).actions
    rows = []
    for label in LABELS:
        answer = await tools.answers.to(closing.prompts[label])
        step = answer.step
        rows.append(
            {
                "label": label,
                "sop": sop,
                "seed": unit["seed"],
                "turn": closing.turn,
                "items": closing.n_items,
                "words": closing.words,
                "step": step if step in actions else "",
                "closed": step in actions and actions[step].kind == CLOSES,
                "reply": answer.text,
                "tokens": answer.tokens,
                "first_ms": answer.first_ms,
                "error": answer.error,
                "caller": "agenda",
            }
        )
    return rows


def _of(rows: Sequence[Row], label: str) -> list[Row]:
    return [row for row in rows if row["label"] == label]


def measures(rows: Sequence[Row]) -> dict[str, Measure]:
    curated = {row["unit"]: row for row in _of(rows, "curated")}
    pairs = [
        (float(row["closed"]) - float(curated[row["unit"]]["closed"]), 1.0)
        for row in _of(rows, "speculative")
        if row["unit"] in curated
    ]
    return {"success_lead_speculative": difference(pairs)}


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        label: {
            "closed": _closed(rows, label)._asdict(),
            "named_no_step": share(sum(not row["step"] for row in _of(rows, label)), len(_of(rows, label)))._asdict(),
            "tokens_per_turn": round(sum(row["tokens"] for row in _of(rows, label)) / max(1, len(_of(rows, label))), 1),
        }
        for label in LABELS
    }


def _closed(rows: Sequence[Row], label: str) -> Measure:
    own = _of(rows, label)
    return share(sum(row["closed"] for row in own), len(own))


def sections(rows: Sequence[Row]) -> list[Section]:
    found = figures(rows)
    table = [
        [label, shown(_closed(rows, label)), shown(Measure(**found[label]["named_no_step"])),
         found[label]["tokens_per_turn"], len(_of(rows, label))]
        for label in LABELS
    ]  # fmt: skip
    shares = [_closed(rows, label) for label in LABELS]
    plot = Plot(
        "Closing turns that the model closed, by what the items are called (simulated callers, 95 % intervals)",
        "label", "share of closing turns", list(LABELS),
        [Series("closed", [m.value or 0.0 for m in shares], [m.low for m in shares], [m.high for m in shares])],
    )  # fmt: skip
    items = sorted(row["items"] for row in _of(rows, "speculative"))
    text = (
        "Each call is played by the procedure's rules up to the turn in which the caller takes leave; there the model "
        "is asked once under each label, with the product's own prompt and the items picked by the last words. "
        f"Closed: it names the closing step. Items shown: {items[0]} to {items[-1]}."
        if items
        else ""
    )
    columns = ("label", "closed", "named no step", "tokens a turn", "closing turns")
    return [Section("Labels", text, columns, table, plot)]


EXPERIMENT = Experiment("E5", units, play, measures, figures, sections)

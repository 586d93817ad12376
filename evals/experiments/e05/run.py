"""E5: the same closing turns, their items called guesses, called curated, or left out. Needs a chat model."""

import random
from collections.abc import Sequence
from typing import Any

from cuecard.clock import LoopClock
from cuecard.context import Context
from evals.callers import AgendaCaller, draw_agenda, load_questions, load_wording
from evals.calls.play import Live
from evals.calls.play import play as play_call
from evals.experiments.shared.compared import share
from evals.experiments.shared.scores import difference, shown
from evals.experiments.tools import Tools
from evals.experiments.types import Experiment, Measure, Options, Plot, Row, Section, Series, Unit
from sops.loader import find, load_procedure
from sops.tables import load_tables

LABELS = ("speculative", "curated", "no_items")
FULL, QUICK = 10, 2


def units(options: Options) -> list[Unit]:
    return [
        {"key": f"{sop}/{seed:07d}", "sop": sop, "seed": seed}
        for seed in options.calls(FULL, QUICK)
        for sop in options.procedures
    ]


async def play(unit: Unit, tools: Tools) -> list[Row]:
    """One caller, three calls; the chat model speaks and decides in all of them."""
    return [await _one(unit, label, tools) for label in LABELS]


async def _one(unit: Unit, label: str, tools: Tools) -> Row:
    procedure = load_procedure(unit["sop"])
    wording = load_wording(procedure.name)
    rng = random.Random(f"{procedure.name}/{unit['seed']}")
    tables = load_tables(find(unit["sop"]))
    agenda = draw_agenda(procedure, tables, wording, load_questions(procedure.name), rng)
    caller = AgendaCaller(agenda, wording, rng)
    context = Context(
        tenant=label,
        label="curated" if label == "curated" else "speculative",
        picks=0 if label == "no_items" else None,
    )
    engine = await tools.engine()
    session = await engine.session(unit["sop"], session_id=f"label-{unit['seed']}", context=context)
    played = await play_call(session, Live(caller), LoopClock())
    last = procedure.actions[played.actions[-1]].kind
    return {
        "label": label,
        "sop": procedure.name,
        "seed": unit["seed"],
        "success": caller.reached(played.outcome, last),
        "turns": len(played.actions),
        "capped": played.capped,
        "caller": "agenda",
    }


def _of(rows: Sequence[Row], label: str) -> list[Row]:
    return [row for row in rows if row["label"] == label]


def measures(rows: Sequence[Row]) -> dict[str, Measure]:
    curated = {row["unit"]: row for row in _of(rows, "curated")}
    pairs = [
        (float(row["success"]) - float(curated[row["unit"]]["success"]), 1.0)
        for row in _of(rows, "speculative")
        if row["unit"] in curated
    ]
    return {"success_lead_speculative": difference(pairs)}


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    return {label: _success(rows, label)._asdict() for label in LABELS}


def _success(rows: Sequence[Row], label: str) -> Measure:
    own = _of(rows, label)
    return share(sum(row["success"] for row in own), len(own))


def sections(rows: Sequence[Row]) -> list[Section]:
    table = [[label, shown(_success(rows, label)), len(_of(rows, label))] for label in LABELS]
    found = [_success(rows, label) for label in LABELS]
    plot = Plot(
        "Calls that reached their goal, by what the items are called (simulated callers, 95 % intervals)",
        "label", "share of calls", list(LABELS),
        [Series("success", [m.value or 0.0 for m in found], [m.low for m in found], [m.high for m in found])],
    )  # fmt: skip
    return [Section("Labels", "", ("label", "goal reached", "calls"), table, plot)]


EXPERIMENT = Experiment("E5", units, play, measures, figures, sections)

"""E11: cold start. How many calls it takes until counts alone know more than the drawn graph, and than tree search."""

import math
import random
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from cuecard.predictors.counts import HORIZON, MemoryCounts
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.imagined_caller import SampledCaller
from cuecard.predictors.mcts import MCTSPredictor
from cuecard.predictors.types import Predictor
from evals.calls.intervals import RESAMPLES
from evals.experiments.shared.recorded import call_of, fitted, history, prior_of, units
from evals.experiments.shared.scores import rank, shown, top, within
from evals.experiments.tools import Tools
from evals.experiments.types import Experiment, Measure, Plot, Row, Section, Series, Unit
from sops.loader import load_procedure

SIZES = (0, 1, 2, 3, 5, 10, 20, 40, 60)
FIXED = ("graph", "mcts")
GROWING = ("counts", "default")


@lru_cache(maxsize=64)
def _counts(sop: str, n: int) -> MemoryCounts:
    return fitted(history(sop)[:n])


async def play(unit: Unit, tools: Tools) -> list[Row]:
    call = call_of(unit)
    known: list[tuple[str, int, Predictor]] = [
        ("graph", 0, EmpiricalPredictor(MemoryCounts(), prior_of)),
        ("mcts", 0, MCTSPredictor(load_procedure, SampledCaller, random.Random(call.seed))),
    ]
    for n in SIZES:
        counts = _counts(call.sop, n)
        known.append(("counts", n, EmpiricalPredictor(counts, lambda _: None)))
        known.append(("default", n, EmpiricalPredictor(counts, prior_of)))
    rows = []
    for name, n, predictor in known:
        ranks = []
        for index in range(len(call.views) - 1):
            forecast = await predictor.predict(call.view(index), HORIZON)
            ranks.append(rank(forecast.actions[0] if forecast.actions else {}, call.views[index + 1].action))
        rows.append({"predictor": name, "calls": n, "sop": call.sop, "seed": call.seed, "a1": ranks})
    return rows


def _of(rows: Sequence[Row], name: str, calls: int = 0) -> list[Row]:
    return [row for row in rows if row["predictor"] == name and row["calls"] == calls]


def crossover(rows: Sequence[Row], rival: str) -> float | None:
    """The smallest history from which on counts alone are never behind `rival`; None when they stay behind."""
    shares = {n: _share(_of(rows, "counts", n)) for n in SIZES}
    bar = _share(_of(rows, rival))
    ahead = [n for n in SIZES if all(shares[m] >= bar for m in SIZES if m >= n)]
    return float(min(ahead)) if ahead else None


def _share(rows: Sequence[Row]) -> float:
    n = sum(len(row["a1"]) for row in rows)
    return sum(within(row["a1"], 1) for row in rows) / n if n else 0.0


def _crossover(rows: Sequence[Row], rival: str) -> Measure:
    """With an interval over resampled calls; where they stay behind, the largest history stands in as the bound."""
    value = crossover(rows, rival)
    by_unit: dict[str, list[Row]] = {}
    for row in rows:
        by_unit.setdefault(row["unit"], []).append(row)
    names, rng = list(by_unit), random.Random(0)
    drawn = []
    for _ in range(RESAMPLES // 20):
        sample = [row for name in rng.choices(names, k=len(names)) for row in by_unit[name]]
        found = crossover(sample, rival)
        drawn.append(math.inf if found is None else found)
    drawn.sort()
    low, high = drawn[int(0.025 * len(drawn))], drawn[int(0.975 * len(drawn)) - 1]
    worst = float(SIZES[-1])
    n = top(_of(rows, "graph"), "a1", 1).n
    # Never overtaking misses any bar: the value is then one more than what was tried.
    return Measure(worst + 1 if value is None else value, min(low, worst + 1), min(high, worst + 1), n)


def measures(rows: Sequence[Row]) -> dict[str, Measure]:
    if not rows:
        return {}
    graph = top(_of(rows, "graph"), "a1", 1)
    behind = {n: (graph.value or 0.0) - (top(_of(rows, "default", n), "a1", 1).value or 0.0) for n in SIZES}
    size = max(behind, key=lambda n: behind[n])
    at = top(_of(rows, "default", size), "a1", 1)
    spread = max(0.0, (at.high - at.low) / 2)
    value = round(behind[size], 2)
    return {
        "crossover_calls": _crossover(rows, "graph"),
        "worst_behind_graph": Measure(value, round(value - spread, 2), round(value + spread, 2), at.n),
    }


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "crossover_graph": _crossover(rows, "graph")._asdict(),
        "crossover_mcts": _crossover(rows, "mcts")._asdict(),
        **{name: top(_of(rows, name), "a1", 1)._asdict() for name in FIXED},
        **{name: {str(n): top(_of(rows, name, n), "a1", 1)._asdict() for n in SIZES} for name in GROWING},
    }


def sections(rows: Sequence[Row]) -> list[Section]:
    table: list[list[object]] = [
        [name, *(shown(top(_of(rows, name, n if name in GROWING else 0), "a1", 1)) for n in SIZES)]
        for name in (*GROWING, *FIXED)
    ]
    lines = []
    for name in (*GROWING, *FIXED):
        found = [top(_of(rows, name, n if name in GROWING else 0), "a1", 1) for n in SIZES]
        lines.append(Series(name, [m.value or 0.0 for m in found], [m.low for m in found], [m.high for m in found]))
    plot = Plot(
        "Next action named first, by calls seen (simulated, 95 % intervals)",
        "calls of the procedure seen", "% of turns", SIZES, lines, "lines", log_x=True,
    )  # fmt: skip
    overtakes = [["graph", _said(_crossover(rows, "graph"))], ["mcts", _said(_crossover(rows, "mcts"))]]
    return [
        Section(
            "Cold start",
            "`counts` knows only the calls it has seen, `default` leans on the drawn graph where they are few. The "
            "oracle is at 100, guessing evenly below 10.",
            ("predictor", *(str(n) for n in SIZES)),
            table,
            plot,
        ),
        Section("Where counts alone overtake", "", ("rival", "calls of the procedure (95 %)"), overtakes),
    ]


def _said(measure: Measure) -> str:
    if measure.value is None or measure.value > SIZES[-1]:
        return f"not within {SIZES[-1]}"
    high = f"{measure.high:g}" if measure.high <= SIZES[-1] else f"more than {SIZES[-1]}"
    return f"{measure.value:g} ({measure.low:g} to {high})"


EXPERIMENT = Experiment("E11", units, play, measures, figures, sections, parallel=False)

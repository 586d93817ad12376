"""`cuecard handoff`: after how many calls counting overtakes the drawn graph and the tree search, and whether what the
product runs is ever behind the best of its parts."""

import asyncio
import random
from collections.abc import Callable
from typing import Any, NamedTuple

from cuecard.predictors.counts import MemoryCounts
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.imagined_caller import SampledCaller
from cuecard.predictors.mcts import MCTSPredictor
from cuecard.predictors.mixture import MixturePredictor
from cuecard.predictors.procedure_prior import ProcedurePrior
from cuecard.predictors.types import Predictor
from evals.predictors.record import counted, record_calls
from evals.predictors.score import Tally, gap, score, together
from sops import load_procedure

SIZES = (0, 1, 3, 10, 30, 100)
DRAWS = 3
"""Random sets of earlier calls at each size but the largest: what one call happens to teach is luck."""
MEASURE = "action_top1_+1"
FIXED = ("graph", "mcts")
GROWING = ("counts", "counts_on_graph", "mixture")
"""Counts alone; on the graph, which is the default; and that with the search as its cold part, while counts are few."""


class _Scored(NamedTuple):
    fixed: dict[str, Tally]
    by_size: dict[int, dict[str, Tally]]


def handoff(
    sop: str, *, sizes: tuple[int, ...] = SIZES, n_test: int = 30, on_step: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Top-1 at +1 by number of earlier calls, where counts cross over, and the worst gap to the best part.

    Means over DRAWS sets of earlier calls at each size. `worst_behind` is paired by call: a part's hits minus the
    predictor's, where that is largest.
    """
    procedure = load_procedure(sop)
    on_step("playing calls")
    calls = record_calls(sop, range(max(sizes) + n_test))
    test = calls[max(sizes) :]
    prior = ProcedurePrior(procedure)

    def search() -> MCTSPredictor:
        return MCTSPredictor({procedure.name: procedure}.get, SampledCaller, random.Random(0))

    async def at(predictor: Predictor) -> Tally:
        return await score(predictor, test, {}, lambda _: False)

    async def run() -> _Scored:
        fixed = {"graph": await at(EmpiricalPredictor(MemoryCounts(), lambda _: prior)), "mcts": await at(search())}
        by_size = {}
        for size in sizes:
            on_step(f"{size} calls")
            drawn: list[dict[str, Tally]] = []
            for draw in range(DRAWS if 0 < size < max(sizes) else 1):
                picks = sorted(random.Random(f"{size}/{draw}").sample(range(max(sizes)), size))
                counts = counted(procedure.name, [calls[n] for n in picks], prior)
                default = EmpiricalPredictor(counts, lambda _: prior)
                drawn.append(
                    {
                        "counts": await at(EmpiricalPredictor(counts, lambda _: None)),
                        "counts_on_graph": await at(default),
                        "mixture": await at(MixturePredictor(default, cold=search())),
                    }
                )
            by_size[size] = {name: together([row[name] for row in drawn]) for name in GROWING}
        return _Scored(fixed, by_size)

    return {"sop": procedure.name, "simulated": True, "n_test": n_test, **_report(asyncio.run(run()))}


def _report(scored: _Scored) -> dict[str, Any]:
    fixed = {name: _shown(tally) for name, tally in scored.fixed.items()}
    by_size = {str(size): {name: _shown(tally) for name, tally in row.items()} for size, row in scored.by_size.items()}
    best_cold = max(float(fixed[name]["top1"]) for name in FIXED)

    def crossover(name: str) -> int | None:
        """The fewest calls from which `name` is at least as good as the best that needs none."""
        reached = [int(size) for size, row in by_size.items() if (row[name]["top1"] or 0.0) >= best_cold]
        return min(reached) if reached else None

    return {
        **fixed,
        "by_sessions": by_size,
        "crossover_sessions": {name: crossover(name) for name in GROWING},
        "worst_behind": {name: _worst_behind(scored, name) for name in ("counts_on_graph", "mixture")},
    }


def _shown(tally: Tally) -> dict[str, Any]:
    row = tally.to_json()
    return {"top1": row.get(MEASURE), "ci95": row.get(f"{MEASURE}_ci95"), "n": row.get(f"{MEASURE}_n")}


def _worst_behind(scored: _Scored, name: str) -> dict[str, Any]:
    """Over all sizes and parts, the largest lead of a part over `name`, in points, with its 95 % interval."""
    found = []
    for size, row in scored.by_size.items():
        parts = {"graph": scored.fixed["graph"], "counts": row["counts"]}
        if name == "mixture":
            parts["mcts"] = scored.fixed["mcts"]
        for part, tally in parts.items():
            if tally.hits.get(MEASURE) and row[name].hits.get(MEASURE):
                ours = row[name].hits[MEASURE]
                theirs = tally.hits[MEASURE]
                # A part that is the same at all sizes was scored once, the others once a draw.
                n_draws = len(ours[0]) // len(theirs[0])
                lead = gap([hits * n_draws for hits in theirs], ours)
                found.append({"points": lead.points, "ci95": lead.ci95, "sessions": size, "part": part})
    return max(found, key=lambda one: one["points"])

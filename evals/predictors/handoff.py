"""`cuecard handoff`: after how many calls counting overtakes the drawn graph and the tree search."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

from cuecard.predictors.counts import MemoryCounts
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.imagined_caller import SampledCaller
from cuecard.predictors.mcts import MCTSPredictor
from cuecard.predictors.procedure_prior import ProcedurePrior
from cuecard.predictors.types import Predictor
from evals.predictors.record import counted, record_calls
from evals.predictors.score import score
from sops import load_procedure

SIZES = (0, 1, 3, 10, 30, 100)
MEASURE = "action_top1_+1"


def handoff(
    sop: str, *, sizes: tuple[int, ...] = SIZES, n_test: int = 30, on_step: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Top-1 at +1 by number of earlier calls: counts alone, counts on the graph, graph alone, tree search."""
    procedure = load_procedure(sop)
    on_step("playing calls")
    calls = record_calls(sop, range(max(sizes) + n_test))
    test = calls[max(sizes) :]
    prior = ProcedurePrior(procedure)
    search = MCTSPredictor({procedure.name: procedure}.get, SampledCaller, random.Random(0))

    async def at(predictor: Predictor) -> dict[str, object]:
        row = (await score(predictor, test, {}, lambda _: False)).to_json()
        return {"top1": row[MEASURE], "ci95": row[f"{MEASURE}_ci95"], "n": row[f"{MEASURE}_n"]}

    async def run() -> dict[str, Any]:
        graph = await at(EmpiricalPredictor(MemoryCounts(), lambda _: prior))
        mcts = await at(search)
        rows = {}
        for size in sizes:
            on_step(f"{size} calls")
            counts = counted(procedure.name, calls[:size])
            rows[str(size)] = {
                "counts": await at(EmpiricalPredictor(counts, lambda _: None)),
                "counts_on_graph": await at(EmpiricalPredictor(counts, lambda _: prior)),
            }
        return {"graph": graph, "mcts": mcts, "by_sessions": rows}

    figures = asyncio.run(run())
    best_cold = max(float(figures[name]["top1"]) for name in ("graph", "mcts"))

    def crossover(name: str) -> int | None:
        """The fewest calls from which `name` is at least as good as the best that needs none."""
        reached = [size for size, row in figures["by_sessions"].items() if (row[name]["top1"] or 0.0) >= best_cold]
        return int(reached[0]) if reached else None

    return {
        "sop": procedure.name,
        "simulated": True,
        "n_test": n_test,
        **figures,
        "crossover_sessions": {name: crossover(name) for name in ("counts", "counts_on_graph")},
    }

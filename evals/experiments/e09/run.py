"""E9: what more history brings, with shrinkage, decay and Thompson sampling on and off; fitted on earlier calls."""

import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from cuecard.predictors.counts import HALF_LIFE_SESSIONS, HORIZON, MemoryCounts
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.types import Forecast, Predictor
from evals.experiments.shared.compared import mean
from evals.experiments.shared.recorded import Call, call_of, fitted, history, prior_of, units
from evals.experiments.shared.scores import lead, rank, shown, top
from evals.experiments.tools import Tools
from evals.experiments.types import Experiment, Measure, Plot, Row, Section, Series, Unit
from evals.real.baselines import ExactCounts
from sops.loader import load_procedure

SHARES = (0.05, 0.1, 0.25, 0.5, 1.0)
PRICE_S = 0.5
"""What a fetch costs in the comparison of decisions, in seconds of stall."""
VARIANTS = ("exact", "shrunk_decayed", "shrunk", "thompson", "with_graph", "graph")


@lru_cache(maxsize=64)
def _counts(sop: str, share: float, decay: bool) -> MemoryCounts:
    """Of the latest `share` of the history: a young deployment has few calls, not old ones."""
    calls = history(sop)
    n = max(1, round(share * len(calls)))
    return fitted(calls[-n:], HALF_LIFE_SESSIONS if decay else None)


def _predictors(sop: str, share: float, seed: int) -> dict[str, Predictor]:
    decayed, plain = _counts(sop, share, True), _counts(sop, share, False)
    return {
        # The account's key: procedure, state and last action, exactly; the procedure's majority where it is unseen.
        "exact": ExactCounts(plain, ("state", "sop"), "exact"),
        "shrunk_decayed": EmpiricalPredictor(decayed, lambda _: None),
        "shrunk": EmpiricalPredictor(plain, lambda _: None),
        "thompson": EmpiricalPredictor(decayed, lambda _: None, thompson=random.Random(seed)),
        "with_graph": EmpiricalPredictor(decayed, prior_of),
        "graph": EmpiricalPredictor(MemoryCounts(), prior_of),
    }


async def play(unit: Unit, tools: Tools) -> list[Row]:
    call = call_of(unit)
    rows = []
    for share in SHARES:
        for name, predictor in _predictors(call.sop, share, call.seed).items():
            made = [await predictor.predict(call.view(index), HORIZON) for index in range(len(call.views) - 1)]
            rows.append({"variant": name, "share": share, "sop": call.sop, "seed": call.seed, **_scored(call, made)})
    return rows


def _scored(call: Call, made: Sequence[Forecast]) -> dict[str, Any]:
    ranks = [
        rank(forecast.actions[0] if forecast.actions else {}, call.views[index + 1].action)
        for index, forecast in enumerate(made)
    ]
    return {"a1": ranks, "net_s": round(_decisions_s(call, made), 3)}


def _decisions_s(call: Call, made: Sequence[Forecast]) -> float:
    """Seconds saved less price, were each forecast asked what to fetch for the next three turns."""
    procedure = load_procedure(call.sop)
    reads = {name: dep for name, dep in procedure.dependencies.items() if dep.effect == "read"}
    fetched: set[str] = set()
    total = 0.0
    for index, forecast in enumerate(made):
        needed = {dep for turn in call.turns[index + 1 : index + 1 + HORIZON] for dep in turn["needs"]}
        for name, dep in reads.items():
            p = _p_within(forecast.actions, name, call.sop)
            if name in fetched or not set(dep.requires) <= set(call.turns[index]["facts"]):
                continue
            if p * dep.latency_s > PRICE_S:
                fetched.add(name)
                total += (dep.latency_s if name in needed else 0.0) - PRICE_S
    return total


def _p_within(actions: Sequence[Mapping[str, float]], dep: str, sop: str) -> float:
    """P(needed at one of the offsets): by what the forecast actions need, taking offsets as independent."""
    needs = load_procedure(sop).actions
    miss = 1.0
    for at in actions:
        miss *= 1.0 - min(1.0, sum(p for name, p in at.items() if name in needs and dep in needs[name].needs))
    return 1.0 - miss


def _of(rows: Sequence[Row], variant: str, share: float) -> list[Row]:
    return [row for row in rows if row["variant"] == variant and row["share"] == share]


def measures(rows: Sequence[Row]) -> dict[str, Measure]:
    return {"gain_at_tenth": lead(_of(rows, "shrunk_decayed", 0.1), _of(rows, "exact", 0.1), "a1", 1)}


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        variant: {
            str(share): {
                "top1": top(_of(rows, variant, share), "a1", 1)._asdict(),
                "net_s_per_call": mean([row["net_s"] for row in _of(rows, variant, share)])._asdict(),
            }
            for share in SHARES
        }
        for variant in VARIANTS
    }


def sections(rows: Sequence[Row]) -> list[Section]:
    n_calls = max((len(history(sop)) for sop in {row["sop"] for row in rows}), default=0)
    table = [
        [variant, *(shown(top(_of(rows, variant, share), "a1", 1)) for share in SHARES),
         top(_of(rows, variant, 1.0), "a1", 1).n]
        for variant in VARIANTS
    ]  # fmt: skip
    decisions = [
        [variant, *(shown(mean([row["net_s"] for row in _of(rows, variant, share)])) for share in SHARES),
         len(_of(rows, variant, 1.0))]
        for variant in VARIANTS
    ]  # fmt: skip
    plot = Plot(
        "Next action named first, by history (simulated, 95 % intervals)",
        "calls of history, each procedure", "% of turns", [max(1, round(share * n_calls)) for share in SHARES],
        [
            Series(
                variant,
                [top(_of(rows, variant, share), "a1", 1).value or 0.0 for share in SHARES],
                [top(_of(rows, variant, share), "a1", 1).low for share in SHARES],
                [top(_of(rows, variant, share), "a1", 1).high for share in SHARES],
            )
            for variant in VARIANTS
        ],
        "lines", log_x=True,
    )  # fmt: skip
    shares = tuple(f"{100 * share:g} % of history" for share in SHARES)
    return [
        Section(
            "Prediction",
            "Top-1 at +1. `exact` is the account's key without shrinkage or decay; `with_graph` is the product's "
            "default; `thompson` draws from the posterior.",
            ("variant", *shares, "turns"),
            table,
            plot,
        ),
        Section(
            "The decision to fetch",
            f"Seconds saved less {PRICE_S:g} s a fetch, per call, when each forecast decides what to fetch for the "
            "next three turns. Each dependency is fetched once; nothing is kept beyond that.",
            ("variant", *shares, "calls"),
            decisions,
        ),
    ]


EXPERIMENT = Experiment("E9", units, play, measures, figures, sections, parallel=False)

"""E2: the caller's next state, on turns where it stays and where it changes, with and without moods."""

import math
import random
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from cuecard.belief.types import Distribution
from cuecard.predictors.counts import HORIZON, MemoryCounts
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.garbage import GarbagePredictor
from cuecard.predictors.types import Forecast
from evals.classify.scores import auc
from evals.experiments.shared.recorded import OFFSETS, Call, call_of, fitted, history, prior_of, units
from evals.experiments.shared.scores import entropy_bits, lead, rank, shown, top
from evals.experiments.tools import Tools
from evals.experiments.types import Experiment, Measure, Plot, Row, Section, Series, Unit
from sops.loader import load_procedure

NAIVE = ("stays", "commonest", "garbage")
LLM = "llm"
BOOTSTRAPS = 500


@lru_cache(maxsize=4)
def _counts(sop: str) -> MemoryCounts:
    return fitted(history(sop))


@lru_cache(maxsize=4)
def _commonest(sop: str) -> Distribution:
    counts = Counter(view.state for call in history(sop) for view in call.views if view.state)
    total = sum(counts.values())
    return {name: n / total for name, n in counts.most_common()}


async def play(unit: Unit, tools: Tools) -> list[Row]:
    call = call_of(unit)
    empirical = EmpiricalPredictor(_counts(call.sop), prior_of)
    graph = EmpiricalPredictor(MemoryCounts(), prior_of)
    garbage = GarbagePredictor(load_procedure, random.Random(call.seed))
    names = ("empirical", "no_mood", "graph", "garbage", *NAIVE[:2], *((LLM,) if tools.answers is not None else ()))
    made: dict[str, list[Forecast]] = {name: [] for name in names}
    # The greeting comes before any words: nobody has a state yet.
    for index in range(1, len(call.views) - 1):
        now = call.views[index].state
        made["empirical"].append(await empirical.predict(call.view(index), HORIZON))
        made["no_mood"].append(await empirical.predict(call.view(index, mood=False), HORIZON))
        made["graph"].append(await graph.predict(call.view(index), HORIZON))
        made["garbage"].append(await garbage.predict(call.view(index), HORIZON))
        made["stays"].append(Forecast(states=({now: 1.0},) * HORIZON, p_change=0.0))
        made["commonest"].append(Forecast(states=(_commonest(call.sop),) * HORIZON))
        if tools.answers is not None:
            made[LLM].append(await tools.answers.forecast(call.view(index), HORIZON))
    return [
        {"predictor": name, "sop": call.sop, "seed": call.seed, **_scored(call, made_by)}
        for name, made_by in made.items()
    ]


def _scored(call: Call, made: Sequence[Forecast]) -> dict[str, Any]:
    row: dict[str, Any] = {"p_change": [], "changed": []}
    for k in OFFSETS:
        row |= {f"stable{k}": [], f"moved{k}": [], f"bits{k}": []}
    for index, forecast in enumerate(made, start=1):
        now = call.views[index].state
        for k in OFFSETS:
            if index + k >= len(call.views):
                continue
            truth = call.views[index + k].state
            states = forecast.states[k - 1] if len(forecast.states) >= k else {}
            row[f"{'stable' if truth == now else 'moved'}{k}"].append(rank(states, truth))
            row[f"bits{k}"].append(round(entropy_bits(states), 3))
        row["p_change"].append(round(forecast.p_change, 4))
        row["changed"].append(call.views[index + 1].state != now)
    return row


def _by(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["predictor"], []).append(row)
    return found


def auc_change(rows: Sequence[Row]) -> Measure:
    """How well P(change) ranks turns before a change above the others; calls are resampled."""
    calls = [(np.array(row["p_change"]), np.array(row["changed"], bool)) for row in rows if row["changed"]]
    n = sum(len(p) for p, _ in calls)
    value = _auc(calls)
    if value is None:
        return Measure(None, math.nan, math.nan, n)
    rng = random.Random(0)
    drawn = sorted(found for _ in range(BOOTSTRAPS) if (found := _auc(rng.choices(calls, k=len(calls)))) is not None)
    low, high = drawn[int(0.025 * len(drawn))], drawn[int(0.975 * len(drawn)) - 1]
    return Measure(round(value, 3), round(low, 3), round(high, 3), n)


def _auc(calls: Sequence[tuple[Any, Any]]) -> float | None:
    if not calls:
        return None
    p, changed = np.concatenate([a for a, _ in calls]), np.concatenate([b for _, b in calls])
    return None if changed.all() or not changed.any() else auc(p, changed)


def measures(rows: Sequence[Row]) -> dict[str, Measure]:
    by = _by(rows)
    if not by:
        return {}
    best = max(NAIVE, key=lambda name: top(by[name], "moved1", 1).value or 0.0)
    return {
        "transition_lead_1": lead(by["empirical"], by[best], "moved1", 1),
        "auc_change_1": auc_change(by["empirical"]),
    }


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    found = {
        name: {
            **{f"transition_top1_at_{k}": top(own, f"moved{k}", 1)._asdict() for k in OFFSETS},
            **{f"transition_top3_at_{k}": top(own, f"moved{k}", 3)._asdict() for k in OFFSETS},
            **{f"stable_top1_at_{k}": top(own, f"stable{k}", 1)._asdict() for k in OFFSETS},
            **{f"stable_top3_at_{k}": top(own, f"stable{k}", 3)._asdict() for k in OFFSETS},
            **{f"entropy_bits_at_{k}": _bits(own, k) for k in OFFSETS},
            "auc_change": auc_change(own)._asdict(),
        }
        for name, own in _by(rows).items()
    }
    return found if LLM in found else {**found, LLM: "not run: no model"}


def _bits(rows: Sequence[Row], k: int) -> float:
    values = [value for row in rows for value in row[f"bits{k}"]]
    return round(sum(values) / len(values), 2) if values else 0.0


def sections(rows: Sequence[Row]) -> list[Section]:
    by = _by(rows)
    tables = {
        kind: [
            [name, *(shown(top(own, f"{kind}{k}", t)) for k in OFFSETS for t in (1, 3)),
             *(top(own, f"{kind}{k}", 1).n for k in OFFSETS)]
            for name, own in by.items()
        ]
        for kind in ("moved", "stable")
    }  # fmt: skip
    spread = [[name, shown(auc_change(own)), *(_bits(own, k) for k in OFFSETS)] for name, own in by.items()]
    if LLM not in by:
        for table, width in ((tables["moved"], 9), (tables["stable"], 9), (spread, 4)):
            table.append([LLM, "not run: no model", *["-"] * (width - 1)])
    plot = Plot(
        "The next state, named first, on turns where it changes (simulated, 95 % intervals)",
        "agent turns ahead", "% of turns with a change", [f"+{k}" for k in OFFSETS],
        [
            Series(
                name,
                [top(own, f"moved{k}", 1).value or 0.0 for k in OFFSETS],
                [top(own, f"moved{k}", 1).low for k in OFFSETS],
                [top(own, f"moved{k}", 1).high for k in OFFSETS],
            )
            for name, own in by.items()
        ],
    )  # fmt: skip
    text = (
        "Labels are the classifier's, made when the words were spoken, as a deployment has them. The lead in the "
        "bar is over the best of stays, commonest and garbage. An oracle names every state. At +2 and +3 a turn counts "
        "as changed when its state is another one than now. Percent; calls are resampled."
    )
    columns = ("predictor", *(f"+{k} {t}" for k in OFFSETS for t in ("first", "in 3")), *(f"n +{k}" for k in OFFSETS))
    mood = (
        "Bits measure how spread a forecast is: what cohorts and moods add to its diversity is the difference between "
        "`empirical` and `no_mood`, at the same counts."
    )
    return [
        Section("Turns on which the state changes", text, columns, tables["moved"], plot),
        Section("Turns on which it stays", "", columns, tables["stable"]),
        Section(
            "When a change is due, and how spread the forecast is",
            mood,
            ("predictor", "AUC of change", *(f"bits +{k}" for k in OFFSETS)),
            spread,
        ),
    ]


EXPERIMENT = Experiment("E2", units, play, measures, figures, sections, parallel=False)

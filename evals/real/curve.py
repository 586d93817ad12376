"""`bench curve`: how good each predictor is after so many sessions."""

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.learned import LearnedPredictor
from cuecard.predictors.mixture import MixturePredictor
from cuecard.predictors.types import Predictor
from evals.real.bench import WHO, Prior
from evals.real.kept import Kept
from evals.real.runs import Turns, fit, run_all
from evals.real.scoring import OFFSETS, measures

SIZES = (0, 5, 20, 46, 93, 232, 465, 1163, 2327)
NAMES = ("account_key", "shrinkage", "graph", "graph_shrinkage", "mixture", "mixture_thompson", "learned")
LEARN_FROM = 93
"""Fewer sessions than this are not worth a model."""

Learn = Callable[[Sequence[int]], LearnedPredictor]
"""Trains a model on the training sessions of these numbers."""


@dataclass(frozen=True, slots=True)
class CurvePlan:
    sizes: tuple[int, ...] = SIZES
    n_subsets: int = 5
    seed: int = 0


def curve(
    train: Sequence[Turns],
    test: Sequence[Turns],
    prior: Prior,
    plan: CurvePlan,
    learn: Learn | None,
    advance: Callable[[int, int], None],
    kept: Kept | None = None,
) -> dict[str, Any]:
    """`{"20": {"mixture": {"top1", "top3", ...}}}` at +1 (and the other offsets inside), means over random subsets.

    `kept`: subsets that an earlier run has finished, and where this one's go.
    """
    sizes = [size for size in plan.sizes if size < len(train)] + [len(train)]
    total = sum(_n_subsets(size, len(train), plan) for size in sizes)
    done = 0
    out: dict[str, Any] = {}
    for size in sizes:
        rows: dict[str, list[dict[str, dict[str, float]]]] = defaultdict(list)
        for subset in range(_n_subsets(size, len(train), plan)):
            name = f"{size}/{subset}"
            found = kept.get(name) if kept is not None else None
            if found is None:
                picks = sorted(random.Random(f"{plan.seed}/{name}").sample(range(len(train)), size))
                learned = learn(picks) if learn is not None and size >= LEARN_FROM else None
                found = _one(_predictors([train[i] for i in picks], prior, learned, random.Random(subset)), test)
                if kept is not None:
                    kept.add(name, found)
            for predictor, row in found.items():
                rows[predictor].append(row)
            done += 1
            advance(done, total)
        out[str(size)] = {name: _mean(rows[name]) for name in NAMES if name in rows}
    return {**out, "n_test": len(test), "who": WHO}


def _one(predictors: Mapping[str, Predictor], test: Sequence[Turns]) -> dict[str, dict[str, dict[str, float]]]:
    """By predictor and offset: top1, top3, n."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name, run in run_all(predictors, test).items():
        scored = {f"+{offset}": measures(run.tallies[offset]) for offset in OFFSETS}
        found[name] = {k: {m: float(v[m] or 0.0) for m in ("top1", "top3", "n")} for k, v in scored.items()}
    return found


def _n_subsets(size: int, n_all: int, plan: CurvePlan) -> int:
    return 1 if size in {0, n_all} else plan.n_subsets


def _predictors(
    train: Sequence[Turns], prior: Prior, learned: LearnedPredictor | None, rng: random.Random
) -> dict[str, Predictor]:
    fitted = fit(train)
    counted = EmpiricalPredictor(fitted.decayed, prior)
    drawn = EmpiricalPredictor(fitted.decayed, prior, thompson=rng)
    found: dict[str, Predictor] = {
        "account_key": fitted.account,
        "shrinkage": EmpiricalPredictor(fitted.plain, lambda _: None),
        "graph": EmpiricalPredictor(fit([]).plain, prior),
        "graph_shrinkage": counted,
        "mixture": MixturePredictor(counted, learned),
        "mixture_thompson": MixturePredictor(drawn, learned),
    }
    return found if learned is None else {**found, "learned": learned}


def _mean(rows: Sequence[dict[str, dict[str, float]]]) -> dict[str, Any]:
    """Means over subsets; top1 and top3 at +1 on top, every offset inside."""
    offsets = {
        key: {
            "top1": round(sum(row[key]["top1"] for row in rows) / len(rows), 2),
            "top3": round(sum(row[key]["top3"] for row in rows) / len(rows), 2),
            "n": int(rows[0][key]["n"]),
        }
        for key in rows[0]
    }
    return {"top1": offsets["+1"]["top1"], "top3": offsets["+1"]["top3"], "n_subsets": len(rows), "offsets": offsets}

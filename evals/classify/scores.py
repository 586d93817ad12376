"""Accuracy, calibration and change figures of a classifier on labelled utterances, each with its n and interval."""

from collections.abc import Callable, Sequence
from itertools import groupby, pairwise
from math import nan, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cuecard.belief.types import Belief
from evals.classify.examples import DatasetError, Example
from sops.models import Procedure

Judge = Callable[[str, str | None, Belief], Belief]
"""(words, last action, belief of the turn before) to belief: `EmbeddedClassifier.judge_text`."""

ECE_BINS = 10
BOOTSTRAPS = 500


class Judged(NamedTuple):
    example: Example
    belief: Belief
    before: Example | None
    """The turn before in the same dialogue."""
    after: Example | None


class Rate(NamedTuple):
    """A share of n with its 95 % interval; nan and n = 0 where nothing could be counted."""

    value: float
    n: int
    low: float
    high: float

    @classmethod
    def of(cls, hits: Sequence[bool]) -> "Rate":
        """Wilson's interval."""
        n = len(hits)
        if n == 0:
            return cls(nan, 0, nan, nan)
        p, z = sum(hits) / n, 1.96
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return cls(p, n, centre - half, centre + half)


class Scores(NamedTuple):
    """One procedure's figures.

    transition_recall: of the turns whose state differs from the turn before, the share that was named right.
    auc_change: how well P(change) ranks the turns after which the state changed above those after which it stayed.
    """

    state_acc: Rate
    state_top3: Rate
    transition_recall: Rate
    auc_change: Rate
    mood_acc: Rate
    cohort_acc: Rate
    ece: Rate

    def to_json(self) -> dict[str, Any]:
        rates = self._asdict()
        return {
            "n": self.state_acc.n,
            **{name: _rounded(rate.value) for name, rate in rates.items()},
            "ns": {name: rate.n for name, rate in rates.items()},
            "intervals": {name: [_rounded(rate.low), _rounded(rate.high)] for name, rate in rates.items()},
        }


def _rounded(value: float) -> float | None:
    return None if value != value else round(value, 4)


def judge_all(examples: Sequence[Example], judge: Judge) -> list[Judged]:
    """Beliefs carried along within a dialogue; a line without one is a call's first words."""
    alone = [one for one in examples if one.dialogue is None]
    told = sorted(
        (one for one in examples if one.dialogue is not None), key=lambda one: (one.dialogue or "", one.order)
    )
    out = [Judged(one, judge(one.utterance, one.action, _prior(one)), None, None) for one in alone]
    for _, turns in groupby(told, key=lambda one: one.dialogue):
        call = list(turns)
        belief = Belief()
        for i, one in enumerate(call):
            belief = judge(one.utterance, one.action, belief)
            before = call[i - 1] if i else None
            after = call[i + 1] if i + 1 < len(call) else None
            out.append(Judged(one, belief, before, after))
    return out


def _prior(example: Example) -> Belief:
    return Belief(state={example.prev_state: 1.0}) if example.prev_state else Belief()


def score(procedure: Procedure, examples: Sequence[Example], judge: Judge) -> Scores:
    """All figures. Raises DatasetError for a label that the procedure does not have."""
    _check_labels(procedure, examples)
    judged = judge_all(examples, judge)
    moved = [one for one in judged if one.before is not None and one.before.state != one.example.state]
    right = [one.belief.likely_state == _named(procedure, one.example.state) for one in judged]
    return Scores(
        state_acc=Rate.of(right),
        state_top3=Rate.of([_named(procedure, one.example.state) in _first(one.belief.state, 3) for one in judged]),
        transition_recall=Rate.of([one.belief.likely_state == _named(procedure, one.example.state) for one in moved]),
        auc_change=_auc_rate(judged),
        mood_acc=Rate.of([_mood_right(one) for one in judged if one.example.mood]),
        cohort_acc=Rate.of([one.belief.likely_cohort == one.example.cohort for one in judged if one.example.cohort]),
        ece=_ece_rate(np.array([max(one.belief.state.values()) for one in judged]), np.array(right)),
    )


def _named(procedure: Procedure, state: str) -> str:
    return procedure.aliases.get(state, state)


def _check_labels(procedure: Procedure, examples: Sequence[Example]) -> None:
    unknown = sorted({one.state for one in examples if _named(procedure, one.state) not in procedure.states})
    if unknown:
        raise DatasetError(
            f"{procedure.name} has no state {', '.join(unknown)}; its states are {', '.join(procedure.states)}."
        )


def _first(distribution: dict[str, float], k: int) -> list[str]:
    return sorted(distribution, key=lambda name: -distribution[name])[:k]


def _mood_right(one: Judged) -> bool:
    """A label may be a mood's name or "cohort/mood"; only the mood counts here."""
    return one.belief.likely_mood == (one.example.mood or "").rpartition("/")[2]


def _auc_rate(judged: Sequence[Judged]) -> Rate:
    followed = [one for one in judged if one.after is not None]
    changed = np.array([one.after is not None and one.after.state != one.example.state for one in followed])
    p = np.array([one.belief.p_change for one in followed])
    if len(followed) == 0 or changed.all() or not changed.any():
        return Rate(nan, len(followed), nan, nan)
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(BOOTSTRAPS):
        rows = rng.integers(0, len(p), len(p))
        if changed[rows].any() and not changed[rows].all():
            draws.append(auc(p[rows], changed[rows]))
    low, high = np.percentile(draws, [2.5, 97.5])
    return Rate(auc(p, changed), len(followed), float(low), float(high))


def auc(values: npt.NDArray[np.float64], positive: npt.NDArray[np.bool_]) -> float:
    """P(a positive's value is above a negative's), ties counting half."""
    # By ranks (Mann and Whitney): comparing all pairs takes minutes where there are thousands of each.
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2.0)[place]
    n = int(positive.sum())
    return float((ranks[positive].sum() - n * (n + 1) / 2.0) / (n * (len(values) - n)))


def _ece_rate(confidence: npt.NDArray[np.float64], right: npt.NDArray[np.bool_]) -> Rate:
    if len(right) == 0:
        return Rate(nan, 0, nan, nan)
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(BOOTSTRAPS):
        rows = rng.integers(0, len(right), len(right))
        draws.append(expected_calibration_error(confidence[rows], right[rows]))
    low, high = np.percentile(draws, [2.5, 97.5])
    return Rate(expected_calibration_error(confidence, right), len(right), float(low), float(high))


def expected_calibration_error(confidence: npt.NDArray[np.float64], right: npt.NDArray[np.bool_]) -> float:
    """Mean gap between confidence and accuracy over ten equal bins, weighted by how many fall in each."""
    edges = np.linspace(0.0, 1.0, ECE_BINS + 1)
    total = 0.0
    for low, high in pairwise(edges):
        inside = (confidence > low) & (confidence <= high)
        if inside.any():
            total += inside.mean() * abs(right[inside].mean() - confidence[inside].mean())
    return float(total)

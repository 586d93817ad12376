"""Ranks of the truth in forecasts, and shares of them with intervals over calls."""

import math
import random
from collections.abc import Mapping, Sequence

import numpy as np

from evals.calls.intervals import RESAMPLES, bootstrap_ratio
from evals.experiments.types import Measure, Row

MANY = 200
"""Calls from which on resampling one by one takes seconds."""


def rank(p: Mapping[str, float], truth: str) -> int:
    """Place of the truth, from 1; 0 when it was given nothing. Ties go to the name first in the alphabet."""
    p_true = p.get(truth, 0.0)
    if p_true <= 0.0:
        return 0
    return 1 + sum(q > p_true or (q == p_true and name < truth) for name, q in p.items())


def entropy_bits(p: Mapping[str, float]) -> float:
    return -sum(q * math.log2(q) for q in p.values() if q > 0.0)


def within(ranks: Sequence[int], k: int) -> int:
    return sum(1 <= one <= k for one in ranks)


def top(rows: Sequence[Row], key: str, k: int) -> Measure:
    """Share (in percent) of ranks within k over all rows; calls are resampled: a call's turns are no strangers."""
    pairs = [(float(within(row[key], k)), float(len(row[key]))) for row in rows if row[key]]
    n = int(sum(below for _, below in pairs))
    if n == 0:
        return Measure(None, math.nan, math.nan, 0)
    low, high = bootstrap_ratio(pairs, scale=100.0) if len(pairs) <= MANY else _many(pairs)
    return Measure(round(100.0 * sum(above for above, _ in pairs) / n, 2), low, high, n)


def _many(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The same interval by array arithmetic."""
    table = np.asarray(pairs)
    drawn = table[np.random.default_rng(0).integers(0, len(table), (RESAMPLES, len(table)))].sum(axis=1)
    low, high = np.percentile(100.0 * drawn[:, 0] / drawn[:, 1], [2.5, 97.5])
    return round(float(low), 3), round(float(high), 3)


def lead(ours: Sequence[Row], theirs: Sequence[Row], key: str, k: int, seed: int = 0) -> Measure:
    """Points by which `ours` is ahead at top-k on the same calls, paired by unit and resampled."""
    other = {row["unit"]: row for row in theirs}
    pairs = [
        (within(row[key], k) - within(other[row["unit"]][key], k), len(row[key]))
        for row in ours
        if row["unit"] in other and row[key]
    ]
    return difference(pairs, seed)


def difference(pairs: Sequence[tuple[float, float]], seed: int = 0) -> Measure:
    """100 x sum(first) / sum(second), which may be negative, over resampled calls."""
    n = sum(below for _, below in pairs)
    if not n:
        return Measure(None, math.nan, math.nan, 0)
    rng = random.Random(seed)
    drawn = []
    for _ in range(RESAMPLES):
        sample = rng.choices(pairs, k=len(pairs))
        below = sum(one for _, one in sample)
        drawn.append(100.0 * sum(one for one, _ in sample) / below if below else 0.0)
    drawn.sort()
    low, high = drawn[int(0.025 * len(drawn))], drawn[int(0.975 * len(drawn)) - 1]
    return Measure(round(100.0 * sum(one for one, _ in pairs) / n, 2), round(low, 2), round(high, 2), int(n))


def shown(measure: Measure, unit: str = "") -> str:
    """A figure with its interval, for a table."""
    if measure.value is None:
        return "-"
    return f"{measure.value:g}{unit} ({measure.low:g} to {measure.high:g})"

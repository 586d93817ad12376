"""95 % intervals for the figures of calls."""

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

_Z = 1.959963984540054
RESAMPLES = 2000


class Interval(NamedTuple):
    low: float
    high: float


def wilson(hits: int, n: int) -> Interval:
    """Of a share; (0, 1) of nothing. Wilson's score interval holds near 0 and 1, where most of ours lie."""
    if n == 0:
        return Interval(0.0, 1.0)
    p, z2 = hits / n, _Z * _Z
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return Interval(round(max(0.0, middle - half), 3), round(min(1.0, middle + half), 3))


def mean_interval(values: Sequence[float]) -> Interval:
    """Of a mean, by resampling."""
    return bootstrap_ratio([(value, 1.0) for value in values])


def bootstrap_ratio(pairs: Sequence[tuple[float, float]], *, scale: float = 1.0, seed: int = 0) -> Interval:
    """Of sum(first) / sum(second) over calls, which are drawn with replacement; same data, same interval."""
    if not pairs:
        return Interval(math.nan, math.nan)
    rng = random.Random(seed)
    ratios = []
    for _ in range(RESAMPLES):
        drawn = rng.choices(pairs, k=len(pairs))
        below = sum(second for _, second in drawn)
        if below > 0:
            ratios.append(scale * sum(first for first, _ in drawn) / below)
    if not ratios:
        return Interval(math.nan, math.nan)
    ratios.sort()
    return Interval(round(ratios[int(0.025 * len(ratios))], 3), round(ratios[int(0.975 * len(ratios)) - 1], 3))

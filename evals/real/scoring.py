"""Scores forecasts against what the agent then did: top-1, top-3, log loss and calibration, with session bootstraps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cuecard.belief.types import Distribution
from cuecard.predictors.types import UNLABELLED, Forecast, TurnView

OFFSETS = (1, 2, 3)
P_FLOOR = 1e-4
"""Log loss of a label that was given no probability; without a floor one miss would be infinite."""
_BINS = 10
_RESAMPLES = 1000


class Hit(NamedTuple):
    """One judged forecast. rank is 1 for the likeliest label, 0 when the truth was not named at all."""

    session: int
    rank: int
    p_true: float
    p_first: float


@dataclass(slots=True)
class Tally:
    """All judged forecasts of one predictor at one offset."""

    actions: list[Hit] = field(default_factory=list)
    sources: list[Hit] = field(default_factory=list)

    def add(self, session: int, forecast: Forecast, offset: int, truth: TurnView) -> None:
        """Judge one forecast. Turns without a label have no action to be judged by; those without a query no source."""
        if truth.label != UNLABELLED:
            self.actions.append(_hit(session, _at(forecast.actions, offset), truth.label))
        if truth.source:
            named = {name: p for name, p in _at(forecast.sources, offset).items() if name}
            self.sources.append(_hit(session, named, truth.source))


def measures(tally: Tally) -> dict[str, float | int | None]:
    """The figures of one predictor at one offset, in percent where they are shares; None where nothing was judged."""
    found = {f"source_hit{k}": _share(tally.sources, k) for k in (1, 2, 3)}
    return {
        "top1": _share(tally.actions, 1),
        "top3": _share(tally.actions, 3),
        "log_loss": _log_loss(tally.actions),
        "ece": _ece(tally.actions),
        "n": len(tally.actions),
        **found,
        "n_source": len(tally.sources),
    }


class Interval(NamedTuple):
    """A difference in percentage points with its 95 % session-bootstrap interval."""

    difference: float
    low: float
    high: float


def bootstrap(ours: Sequence[Hit], theirs: Sequence[Hit], k: int, seed: int = 0) -> Interval:
    """Top-k of `ours` minus `theirs` over the same forecasts, sessions resampled: a call's turns are no strangers."""
    sessions = np.array([hit.session for hit in ours])
    gain = _within(ours, k).astype(np.float64) - _within(theirs, k)
    _, index = np.unique(sessions, return_inverse=True)
    sums = np.bincount(index, weights=gain)
    counts = np.bincount(index).astype(np.float64)
    picks = np.random.default_rng(seed).integers(0, len(sums), (_RESAMPLES, len(sums)))
    means = sums[picks].sum(axis=1) / counts[picks].sum(axis=1) * 100.0
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(round(float(gain.mean()) * 100.0, 2), round(float(low), 2), round(float(high), 2))


def _at(distributions: Sequence[Distribution], offset: int) -> Mapping[str, float]:
    return distributions[offset - 1] if len(distributions) >= offset else {}


def _hit(session: int, p: Mapping[str, float], truth: str) -> Hit:
    p_true = p.get(truth, 0.0)
    if p_true <= 0.0:
        return Hit(session, 0, 0.0, max(p.values(), default=0.0))
    # Ties go to the name that comes first in the alphabet, so that a figure does not hang on dictionary order.
    rank = 1 + sum(q > p_true or (q == p_true and name < truth) for name, q in p.items())
    return Hit(session, rank, p_true, max(p.values()))


def _within(hits: Sequence[Hit], k: int) -> npt.NDArray[np.bool_]:
    return np.array([1 <= hit.rank <= k for hit in hits], bool)


def _share(hits: Sequence[Hit], k: int) -> float | None:
    return round(float(_within(hits, k).mean()) * 100.0, 2) if hits else None


def _log_loss(hits: Sequence[Hit]) -> float | None:
    if not hits:
        return None
    return round(float(-np.log(np.maximum([hit.p_true for hit in hits], P_FLOOR)).mean()), 4)


def _ece(hits: Sequence[Hit]) -> float | None:
    """Expected calibration error of the likeliest label: |said - came true| by tenths of confidence, weighted."""
    if not hits:
        return None
    said = np.array([hit.p_first for hit in hits])
    came = _within(hits, 1)
    bins = np.minimum((said * _BINS).astype(int), _BINS - 1)
    gaps = [
        abs(float(said[bins == b].mean()) - float(came[bins == b].mean())) * float((bins == b).mean())
        for b in range(_BINS)
        if (bins == b).any()
    ]
    return round(sum(gaps), 4)

"""How much of the mixture is the model's, and how sharp the mixture must be made to keep its word.

Fitted on calls that neither the counts nor the judging member had seen: each call is judged, then counted.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from cuecard.belief.types import Distribution
from cuecard.predictors.counts import HORIZON, MemoryCounts, call_increments
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.graph import GraphPrior
from cuecard.predictors.mixture import BANDS
from cuecard.predictors.training.examples import Turns
from cuecard.predictors.training.fit import WARM_UP, Trained
from cuecard.predictors.training.net import Array
from cuecard.predictors.types import Forecast, SessionView

_TOO_FEW = 50
"""Bands with fewer judged turns take the offset's common share."""
_POWERS = np.arange(0.7, 1.81, 0.05)

PerOffset = dict[str, tuple[tuple[float, ...], ...]]


class Fitted(NamedTuple):
    shares: PerOffset
    """By head: the model's share, per offset and band of evidence."""
    powers: dict[str, tuple[float, ...]]
    """By head: exponent of the mixture's probabilities, per offset."""


@dataclass(slots=True)
class _Judged:
    """Turns judged for one head at one offset; columns are the model's labels."""

    counts: list[Array] = field(default_factory=list)
    model: list[Array] = field(default_factory=list)
    column: list[int] = field(default_factory=list)
    band: list[int] = field(default_factory=list)


async def fit_shares(trained: Trained, sessions: Sequence[Turns], prior: Callable[[str], GraphPrior | None]) -> Fitted:
    """Shares by expectation-maximisation of the log loss, then the exponents that minimise it."""
    judged: dict[tuple[str, int], _Judged] = defaultdict(_Judged)
    counts = MemoryCounts()
    predictor = EmpiricalPredictor(counts, prior)
    row = 0
    for number, turns in enumerate(sessions):
        for index in range(len(turns) - 1):
            if number >= WARM_UP * len(sessions):
                view = SessionView(sop=turns[index].sop, turns=tuple(turns[: index + 1]))
                _judge(trained, row, await predictor.predict(view, HORIZON), judged)
            row += 1
        for increment in call_increments("", turns):
            counts.add(increment)
        counts.end_session()
    shares: PerOffset = {}
    powers: dict[str, tuple[float, ...]] = {}
    for head in trained.names.labels:
        found = [_fit_one(judged[head, offset]) for offset in range(HORIZON)]
        shares[head] = tuple(one[0] for one in found)
        powers[head] = tuple(one[1] for one in found)
    return Fitted(shares, powers)


def _judge(trained: Trained, row: int, forecast: Forecast, judged: dict[tuple[str, int], _Judged]) -> None:
    """Note what counts and model said, for every head and offset with an outcome that the model knows by name."""
    band = bisect_right(BANDS, forecast.evidence)
    for head, offset, column, told, p_model in _outcomes(trained, row, forecast):
        names = trained.names.labels[head]
        one = judged[head, offset]
        one.counts.append(np.array([told.get(name, 0.0) for name in names], np.float32))
        one.model.append(p_model)
        one.column.append(column)
        one.band.append(band)


def _outcomes(trained: Trained, row: int, forecast: Forecast) -> Iterator[tuple[str, int, int, Distribution, Array]]:
    told = {"action": forecast.actions, "source": forecast.sources, "state": forecast.states}
    for number, head in enumerate(trained.names.labels):
        for offset in range(HORIZON):
            column = int(trained.labels[number, offset, row])
            p_model = trained.held_out[number][offset, row]
            if column >= 0 and not np.isnan(p_model[0]):
                yield head, offset, column, told[head][offset] if offset < len(told[head]) else {}, p_model


def _fit_one(one: _Judged) -> tuple[tuple[float, ...], float]:
    n_bands = len(BANDS) + 1
    if not one.column:
        return (0.5,) * n_bands, 1.0
    counts, model = np.stack(one.counts), np.stack(one.model)
    rows, column, band = np.arange(len(one.column)), np.array(one.column), np.array(one.band)
    pairs = np.maximum(np.stack([counts[rows, column], model[rows, column]], axis=1), 1e-6)
    common = _share(pairs)
    shares = [_share(pairs[band == b]) if (band == b).sum() >= _TOO_FEW else common for b in range(n_bands)]
    weight = np.array(shares, np.float32)[band][:, None]
    mixed = np.maximum((1.0 - weight) * counts + weight * model, 1e-7)
    losses = []
    for power in _POWERS:
        sharp = mixed**power
        losses.append(float(-np.log(sharp[rows, column] / sharp.sum(axis=1)).mean()))
    return tuple(shares), round(float(_POWERS[int(np.argmin(losses))]), 2)


def _share(pairs: Array) -> float:
    """The weight of the model that makes what happened likeliest."""
    w = 0.5
    for _ in range(100):
        theirs = w * pairs[:, 1]
        w = float((theirs / (theirs + (1.0 - w) * pairs[:, 0])).mean())
    return round(w, 4)

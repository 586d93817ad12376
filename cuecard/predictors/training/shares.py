"""How much of the mixture is the model's: fitted on calls that neither the counts nor the judging member had seen."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cuecard.predictors.counts import HORIZON, MemoryCounts, call_increments
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.graph import GraphPrior
from cuecard.predictors.mixture import BANDS
from cuecard.predictors.training.examples import Turns
from cuecard.predictors.training.fit import Trained
from cuecard.predictors.types import Forecast, SessionView

WARM_UP = 0.75
"""Share of the sessions that only feed the counts before judging begins; each later one is judged, then counted."""
_TOO_FEW = 50
"""Bands with fewer judged turns take the offset's common share."""

Shares = dict[str, tuple[tuple[float, ...], ...]]


class _Judged(NamedTuple):
    p_counts: float
    p_model: float


async def fit_shares(trained: Trained, sessions: Sequence[Turns], prior: Callable[[str], GraphPrior | None]) -> Shares:
    """Per head: the model's share by offset and band of evidence, by expectation-maximisation of the log loss."""
    judged: dict[tuple[str, int, int], list[_Judged]] = defaultdict(list)
    counts = MemoryCounts()
    predictor = EmpiricalPredictor(counts, prior)
    row = 0
    for number, turns in enumerate(sessions):
        for index in range(len(turns) - 1):
            if number >= WARM_UP * len(sessions):
                view = SessionView(sop=turns[index].sop, turns=tuple(turns[: index + 1]))
                forecast = await predictor.predict(view, HORIZON)
                band = bisect_right(BANDS, forecast.evidence)
                for head, offset, pair in _pairs(trained, row, forecast):
                    judged[head, offset, band].append(pair)
            row += 1
        for increment in call_increments("", turns):
            counts.add(increment)
        counts.end_session()
    return {head: tuple(_by_band(judged, head, offset) for offset in range(HORIZON)) for head in trained.names.labels}


def _pairs(trained: Trained, row: int, forecast: Forecast) -> Iterator[tuple[str, int, _Judged]]:
    """What counts and model gave to what then happened, for every head and offset with an outcome."""
    told = {"action": forecast.actions, "source": forecast.sources, "state": forecast.states}
    for number, head in enumerate(trained.names.labels):
        for offset in range(HORIZON):
            label = trained.raw.targets[row][head][offset]
            if label is None:
                continue
            column = trained.labels[number, offset, row]
            p_model = float(trained.held_out[number][offset, row, column]) if column >= 0 else 0.0
            if np.isnan(p_model):
                continue
            p_counts = told[head][offset].get(label, 0.0) if offset < len(told[head]) else 0.0
            yield head, offset, _Judged(p_counts, p_model)


def _by_band(judged: dict[tuple[str, int, int], list[_Judged]], head: str, offset: int) -> tuple[float, ...]:
    bands = [judged[head, offset, band] for band in range(len(BANDS) + 1)]
    common = _share([pair for pairs in bands for pair in pairs])
    return tuple(_share(pairs) if len(pairs) >= _TOO_FEW else common for pairs in bands)


def _share(pairs: Sequence[_Judged]) -> float:
    """The weight of the model that makes what happened likeliest."""
    if not pairs:
        return 0.5
    p = np.maximum(np.array(pairs), 1e-6)
    w = 0.5
    for _ in range(100):
        theirs = w * p[:, 1]
        w = float((theirs / (theirs + (1.0 - w) * p[:, 0])).mean())
    return round(w, 4)

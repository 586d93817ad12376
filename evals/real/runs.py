"""Fits the counts on some sessions and runs every predictor over others."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cuecard.predictors.counts import HALF_LIFE_SESSIONS, MemoryCounts, call_increments
from cuecard.predictors.types import Predictor, TurnView
from evals.real.baselines import AccountKey
from evals.real.scoring import OFFSETS, Tally
from evals.real.views import view_at

Turns = tuple[TurnView, ...]


@dataclass(frozen=True, slots=True)
class Fitted:
    """What counting some sessions leaves behind."""

    decayed: MemoryCounts
    plain: MemoryCounts
    account: AccountKey


def fit(sessions: Sequence[Turns], half_life_sessions: float | None = HALF_LIFE_SESSIONS) -> Fitted:
    """Count sessions, oldest first."""
    fitted = Fitted(MemoryCounts(half_life_sessions), MemoryCounts(None), AccountKey())
    for turns in sessions:
        for increment in call_increments("", turns):
            fitted.decayed.add(increment)
            fitted.plain.add(increment)
        fitted.account.learn(turns)
        fitted.decayed.end_session()
    return fitted


@dataclass(slots=True)
class Run:
    """One predictor over all test sessions."""

    tallies: dict[int, Tally] = field(default_factory=lambda: {offset: Tally() for offset in OFFSETS})
    seconds: float = 0.0
    n_predictions: int = 0

    @property
    def us_per_prediction(self) -> float:
        """Wall time of one forecast of all offsets, actions and sources together."""
        return round(self.seconds / max(1, self.n_predictions) * 1e6, 1)


def run_all(predictors: Mapping[str, Predictor], sessions: Sequence[Turns]) -> dict[str, Run]:
    """Every predictor at every turn that has a turn after it."""
    return asyncio.run(_run_all(predictors, sessions))


async def _run_all(predictors: Mapping[str, Predictor], sessions: Sequence[Turns]) -> dict[str, Run]:
    runs = {name: Run() for name in predictors}
    for number, turns in enumerate(sessions):
        for index in range(len(turns) - 1):
            view = view_at(turns, index)
            for name, predictor in predictors.items():
                run = runs[name]
                started = time.perf_counter()
                forecast = await predictor.predict(view, OFFSETS[-1])
                run.seconds += time.perf_counter() - started
                run.n_predictions += 1
                for offset in OFFSETS:
                    if index + offset < len(turns):
                        run.tallies[offset].add(number, forecast, offset, turns[index + offset])
    return runs

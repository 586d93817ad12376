"""A predictor that knows nothing: the control that every comparison needs."""

import random
import time
from collections.abc import Callable, Sequence

from cuecard.belief.types import Distribution
from cuecard.predictors.types import Forecast, SessionView, Utterance
from sops.models import Procedure

SENTENCES = (
    "boil the pasta in plenty of salted water",
    "the tide will be out by half past six",
    "put the second coat on once the first is dry",
    "which bus goes to the stadium on sundays",
)
"""Far from any procedure: whatever they fetch was fetched by accident."""


class GarbagePredictor:
    """Random distributions over real names, and sentences about something else. What helps with it, helps by luck."""

    def __init__(self, procedure_of: Callable[[str], Procedure | None], rng: random.Random) -> None:
        self._procedure_of = procedure_of
        self._rng = rng

    async def predict(self, view: SessionView, horizon: int = 3) -> Forecast:
        began = time.perf_counter()
        procedure = self._procedure_of(view.sop)
        if procedure is None:
            return Forecast(by="garbage")
        actions = tuple(self._any(list(procedure.actions)) for _ in range(horizon))
        states = tuple(self._any(list(procedure.states)) for _ in range(horizon))
        sources = tuple(self._any(["", *procedure.dependencies]) for _ in range(horizon))
        said = tuple(
            Utterance(self._rng.choice(SENTENCES), self._rng.random(), offset, "garbage")
            for offset in range(1, horizon + 1)
        )
        ms = 1000.0 * (time.perf_counter() - began)
        return Forecast(
            actions=actions,
            states=states,
            sources=sources,
            utterances=said,
            p_change=self._rng.random(),
            by="garbage",
            ms=ms,
        )

    def _any(self, names: Sequence[str]) -> Distribution:
        weights = [self._rng.expovariate(1.0) for _ in names]
        total = sum(weights)
        return {name: weight / total for name, weight in zip(names, weights, strict=True)}

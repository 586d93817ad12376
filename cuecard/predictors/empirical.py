"""Counts over precedents, shrunken towards the drawn graph: the default predictor, which needs no training step."""

import random
import time
from collections.abc import Callable, Sequence

from cuecard.belief.types import Distribution
from cuecard.predictors.counts import CountKey, Counts, CountSource, Kind, contexts, situation
from cuecard.predictors.graph import Expected, GraphPrior
from cuecard.predictors.shrinkage import DUE_STRENGTH, PRIOR_SHARE, STRENGTH, Drawn, normalised, shrink
from cuecard.predictors.types import Forecast, SessionView

_KINDS: tuple[Kind, ...] = ("action", "source", "state")


class EmpiricalPredictor:
    """Direct decayed counts per offset over (procedure, actions, state, cohort, mood, what is due) and the graph.

    Works with no precedents (the graph alone), with no graph (counts alone) and for unknown names (it says less).
    Forecast.sources has a label "" for a turn that consults nothing.
    """

    def __init__(
        self,
        counts: CountSource,
        prior: Callable[[str], GraphPrior | None],
        *,
        strength: float = STRENGTH,
        thompson: random.Random | None = None,
        clock_s: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`prior` gives the graph of a procedure by name. `thompson`: draw from the posterior with this generator."""
        self._counts = counts
        self._prior = prior
        self._strength = strength
        self._rng = thompson
        self._clock_s = clock_s

    async def predict(self, view: SessionView, horizon: int = 3) -> Forecast:
        started_s = self._clock_s()
        graph = self._prior(view.sop)
        expected = graph.expect(view, horizon) if graph is not None else Expected()
        levels = contexts(situation(view, expected.due))
        keys = [
            CountKey(view.sop, kind, offset, context)
            for kind in _KINDS
            for offset in range(1, horizon + 1)
            for context in levels.values()
        ]
        rows = await self._counts.read(keys)
        evidence = (
            sum(rows[keys.index(CountKey(view.sop, "action", 1, levels["last"]))].values()) if view.turns else 0.0
        )
        parts: dict[Kind, tuple[Distribution, ...]] = {}
        for index, kind in enumerate(_KINDS):
            block = rows[index * horizon * len(levels) : (index + 1) * horizon * len(levels)]
            parts[kind] = self._distributions(tuple(levels), block, _of(expected, kind), expected.trust, horizon)
        states = parts["state"]
        now = view.turns[-1].state if view.turns else view.belief.likely_state
        p_change = 1.0 - states[0].get(now, 0.0) if states and states[0] and now else view.belief.p_change
        return Forecast(
            actions=parts["action"],
            states=states,
            sources=parts["source"],
            p_change=p_change,
            evidence=evidence,
            by="empirical",
            ms=(self._clock_s() - started_s) * 1000.0,
        )

    def _distributions(
        self,
        names: tuple[str, ...],
        rows: Sequence[Counts],
        priors: tuple[Distribution, ...],
        trust: float,
        horizon: int,
    ) -> tuple[Distribution, ...]:
        out = []
        for offset in range(horizon):
            block = rows[offset * len(names) : (offset + 1) * len(names)]
            prior = priors[offset] if offset < len(priors) else {}
            if self._rng is None and not any(block):
                out.append(normalised(prior))
                continue
            # What was seen from here says less of turns further off, the graph's look at the last action too.
            drawn = Drawn(prior, PRIOR_SHARE / (offset + 1), trust, DUE_STRENGTH * (offset + 1))
            p = shrink(dict(zip(names, block, strict=True)), drawn, self._strength * (offset + 1), self._rng)
            out.append(normalised(p))
        return tuple(out)


def _of(expected: Expected, kind: Kind) -> tuple[Distribution, ...]:
    if kind == "action":
        return expected.actions
    return expected.sources if kind == "source" else expected.states

"""Who is believed how much: graph, counts, learned model and slower guesses, handed over by evidence.

Counts already lean on the graph where they are thin. The learned model's share was fitted on calls its members had not
seen, per offset and band of evidence. A slow predictor (a language model, tree search) is asked only while counts are
thin, and loses weight with every turn counted.
"""

import time
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from cuecard.belief.types import Distribution
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.learned import LearnedPredictor
from cuecard.predictors.shrinkage import blend, normalised
from cuecard.predictors.types import Forecast, Predictor, SessionView

BANDS = (5.0, 20.0, 80.0)
"""Counted turns in the present context (procedure, last action) where one band of shares ends and the next begins."""
COLD_TURNS = 10.0
"""Counted turns that halve a cold predictor's weight."""
COLD_START = 0.3
"""Its weight beside the graph where nothing was counted: a search knows the same rules, less surely (decision 0107)."""
COLD_FLOOR = 0.1
"""Below this weight a cold predictor is not asked at all: it costs tokens or seconds."""

Shares = Mapping[str, Sequence[Sequence[float]]]


class MixturePredictor:
    """Graph and counts, the learned model where it knows the procedure, and `cold` while evidence is thin."""

    def __init__(
        self,
        empirical: EmpiricalPredictor,
        learned: LearnedPredictor | None = None,
        cold: Predictor | None = None,
        clock_s: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._empirical = empirical
        self._learned = learned
        self._shares: Shares = learned.card.shares if learned is not None else {}
        self._powers: Mapping[str, Sequence[float]] = learned.card.powers if learned is not None else {}
        self._cold = cold
        self._clock_s = clock_s

    async def predict(self, view: SessionView, horizon: int = 3) -> Forecast:
        started_s = self._clock_s()
        forecast = await self._empirical.predict(view, horizon)
        evidence = forecast.evidence
        by, tokens = forecast.by, forecast.tokens
        w_cold = COLD_START * COLD_TURNS / (COLD_TURNS + evidence)
        if self._cold is not None and w_cold >= COLD_FLOOR:
            cold = await self._cold.predict(view, horizon)
            if any(cold.actions):
                forecast = _mixed(forecast, cold, lambda head, offset: w_cold)
                forecast = replace(forecast, utterances=cold.utterances)
                by, tokens = f"{by}+{cold.by}", tokens + cold.tokens
        if self._learned is not None:
            learned = await self._learned.predict(view, horizon)
            if any(learned.actions):
                band = bisect_right(BANDS, evidence)
                forecast = _mixed(forecast, learned, lambda head, offset: self._share(head, offset, band))
                forecast = replace(
                    forecast,
                    actions=sharpened(forecast.actions, self._powers.get("action", ())),
                    sources=sharpened(forecast.sources, self._powers.get("source", ())),
                    states=sharpened(forecast.states, self._powers.get("state", ())),
                )
                by = f"{by}+learned"
        return replace(forecast, by=by, tokens=tokens, ms=(self._clock_s() - started_s) * 1000.0)

    def _share(self, head: str, offset: int, band: int) -> float:
        rows = self._shares.get(head, ())
        return rows[offset][band] if offset < len(rows) else 0.0


def sharpened(parts: Sequence[Distribution], powers: Sequence[float]) -> tuple[Distribution, ...]:
    """Each distribution raised to its power; a mean of several opinions is less sure than any of them should be."""
    if len(powers) < len(parts):
        return tuple(parts)
    return tuple(
        normalised({name: q**power for name, q in p.items()}) if power != 1.0 else p
        for p, power in zip(parts, powers, strict=False)
    )


def _mixed(ours: Forecast, theirs: Forecast, share: Callable[[str, int], float]) -> Forecast:
    """Each distribution as a weighted mean; where one side is silent the other speaks alone."""

    def mix(head: str, a: Sequence[Distribution], b: Sequence[Distribution]) -> tuple[Distribution, ...]:
        out = []
        for offset in range(max(len(a), len(b))):
            left = a[offset] if offset < len(a) else {}
            right = b[offset] if offset < len(b) else {}
            w = share(head, offset)
            out.append(blend([(1.0 - w, left), (w, right)]) if left and right else left or right)
        return tuple(out)

    w = share("state", 0) if ours.states and theirs.states else 0.0
    return replace(
        ours,
        actions=mix("action", ours.actions, theirs.actions),
        sources=mix("source", ours.sources, theirs.sources),
        states=mix("state", ours.states, theirs.states),
        p_change=(1.0 - w) * ours.p_change + w * theirs.p_change,
    )

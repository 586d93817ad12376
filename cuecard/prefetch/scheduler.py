"""Decides what to fetch ahead: P(used before it expires) x seconds that hides - price, under limits, with reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from cuecard.pool import Pool
from cuecard.predictors.types import Forecast
from cuecard.prefetch.jobs import Known, Wish, is_query, job_for
from cuecard.prefetch.safety import forbidden_early
from cuecard.prefetch.types import FetchJob, FetchKey
from cuecard.prefetch.value import Floats, first_use, hidden_by_partial_s, hidden_s
from sops.models import Procedure

What = Literal["fetch", "refresh", "hold", "drop"]

LEAD_FIRST_S = 5.0
"""Seconds from a finished pass to the end of the caller's next words: median turn of 8 s less the pass and a margin."""
TURN_MEDIAN_S, TURN_SPREAD = 8.0, 0.95
"""Caller end to caller end in recorded calls: median 8 s, p10 2 s, p90 24 s, about log-normal (evidence, section 2)."""
HEARD_S: Floats = np.array([1.2, 1.2, 1.2, 1.2, 0.0])
"""How long before the caller stops the question is clear: 1.2 s, four times in five (evidence, section 1)."""
PATH_LATER = 0.5
"""P(a step of the procedure's main path that is not done and not forecast comes up later in the call)."""
WORTH_S = 0.05
"""A fetch must be expected to save at least this many seconds beyond its price."""


@lru_cache(maxsize=8)
def leads_s(horizon: int) -> Floats:
    """Samples (64, horizon) of the time from a finished pass until the caller stops speaking before turn +h."""
    drawn = np.random.default_rng(0).lognormal(np.log(TURN_MEDIAN_S), TURN_SPREAD, (64, horizon))
    return np.cumsum(drawn, axis=1)


class Decision(NamedTuple):
    """The scheduler's word on one candidate; `job` is what to hand the broker for fetch and refresh."""

    what: What
    key: FetchKey
    job: FetchJob | None
    value_s: float
    reason: str


@dataclass(slots=True)
class _Candidate:
    job: FetchJob
    p_need: list[float]
    for_action: str = ""
    for_offset: int = 0


@dataclass(slots=True)
class Scheduler:
    """One procedure's scheduler; holds settings and learned latencies, no session."""

    procedure: Procedure
    price_s: float = 0.0
    """Added to every dependency's own price: turn it up and waste goes down."""
    horizon: int = 6
    latencies_s: dict[str, float] = field(default_factory=dict)
    """Learned per dependency; the declared prior until then."""

    def plan(
        self,
        forecast: Forecast,
        known: Known,
        pool: Pool,
        in_flight: Mapping[FetchKey, object],
        now_s: float,
        *,
        done: frozenset[str] = frozenset(),
    ) -> list[Decision]:
        """What to fetch, refresh, hold and drop, most valuable first."""
        candidates = self._candidates(forecast, known, done)
        if not candidates:
            return []
        p_need: Floats = np.array([c.p_need for c in candidates])
        latency_s: Floats = np.array([self._latency_s(c.job.key.dep) for c in candidates])
        price_s: Floats = np.array([c.job.call.spec.price + self.price_s for c in candidates])
        asked = np.array([is_query(c.job.call.spec) for c in candidates])
        ttl_s: Floats = np.array([c.job.call.spec.ttl_s for c in candidates])
        anyway_s: Floats = hidden_by_partial_s(latency_s, HEARD_S) * asked
        saved_s = first_use(p_need) * hidden_s(latency_s, ttl_s, anyway_s, leads_s(self.horizon)).seconds
        value_s = saved_s.sum(axis=1) - price_s
        p_use = 1.0 - np.prod(1.0 - p_need, axis=1)
        decisions = []
        for n in np.argsort(-value_s).tolist():
            decisions.append(self._decide(candidates[n], float(value_s[n]), float(p_use[n]), pool, in_flight, now_s))
        wanted = {decision.key for decision in decisions if decision.what != "hold"}
        for key in in_flight:
            if key not in wanted and any(decision.key == key for decision in decisions):
                decisions.append(Decision("drop", key, None, 0.0, "no longer worth its price"))
        return decisions

    def learn_latency(self, dep: str, took_s: float) -> None:
        """Lean a fifth towards each latency seen."""
        self.latencies_s[dep] = 0.8 * self._latency_s(dep) + 0.2 * took_s

    def _latency_s(self, dep: str) -> float:
        return self.latencies_s.get(dep, self.procedure.dependencies[dep].latency_s)

    def _decide(
        self,
        candidate: _Candidate,
        value_s: float,
        p_use: float,
        pool: Pool,
        in_flight: Mapping[FetchKey, object],
        now_s: float,
    ) -> Decision:
        job = candidate.job
        reason = f"p {p_use:.2f}, saves {value_s:.2f} s"
        if candidate.for_action:
            reason += f", for {candidate.for_action} at +{candidate.for_offset}"
        if value_s <= WORTH_S:
            return Decision("hold", job.key, None, value_s, f"not worth it: {reason}")
        item = pool.get(job.key.dep, job.key.args, now_s)
        what: What = "fetch"
        if item is not None:
            if item.expires_at_s - now_s > self._latency_s(job.key.dep) + LEAD_FIRST_S:
                return Decision("hold", job.key, None, value_s, "in the pool")
            what, reason = "refresh", f"expires in {item.expires_at_s - now_s:.1f} s; {reason}"
        elif job.key in in_flight:
            return Decision("fetch", job.key, replace(job, p=p_use, value_s=value_s), value_s, f"under way: {reason}")
        origin = "refresh" if what == "refresh" else job.origin
        ready = replace(job, p=p_use, value_s=value_s, reason=reason, origin=origin)
        return Decision(what, job.key, ready, value_s, reason)

    def _candidates(self, forecast: Forecast, known: Known, done: frozenset[str]) -> list[_Candidate]:
        found = []
        for dep, spec in self.procedure.dependencies.items():
            if forbidden_early(spec, known.verified):
                continue
            p_need, action, offset = self._need(dep, forecast, done)
            if not any(p_need):
                continue
            wish = Wish("forecast", action, offset)
            if not is_query(spec):
                job = job_for(self.procedure, dep, known, wish)
                if job is not None:
                    found.append(_Candidate(job, p_need, action, offset))
                continue
            for utterance in forecast.utterances:
                job = job_for(
                    self.procedure, dep, known, replace(wish, for_offset=utterance.offset), user_text=utterance.text
                )
                if job is not None:
                    here = max(1, min(utterance.offset, self.horizon)) - 1
                    p_here = [p_need[h] * utterance.p if h >= here else 0.0 for h in range(self.horizon)]
                    found.append(_Candidate(job, p_here, action, utterance.offset))
        return _merged(found)

    def _need(self, dep: str, forecast: Forecast, done: frozenset[str]) -> tuple[list[float], str, int]:
        """P(needed at +h), with the action and offset that contribute most."""
        p_need = [0.0] * self.horizon
        best, action, offset = 0.0, "", 0
        for name, step in self.procedure.actions.items():
            if dep not in step.needs:
                continue
            forecast_p = [d.get(name, 0.0) for d in forecast.actions[: self.horizon]]
            for h, p in enumerate(forecast_p):
                p_need[h] = min(1.0, p_need[h] + p)
                if p > best:
                    best, action, offset = p, name, h + 1
            later = self.horizon - len(forecast_p)
            if later > 0 and name in self.procedure.path and name not in done:
                for h in range(len(forecast_p), self.horizon):
                    p_need[h] = min(1.0, p_need[h] + PATH_LATER / later)
                if not action:
                    action, offset = name, len(forecast_p) + 1
        return p_need, action, offset


def _merged(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """One candidate per key; needs of the same key add up."""
    by_key: dict[FetchKey, _Candidate] = {}
    for candidate in candidates:
        known = by_key.get(candidate.job.key)
        if known is None:
            by_key[candidate.job.key] = candidate
        else:
            known.p_need = [min(1.0, a + b) for a, b in zip(known.p_need, candidate.p_need, strict=True)]
    return list(by_key.values())

"""Who is calling, in what mood: evidence that adds up over turns and never flips on one sentence."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from cuecard.belief.types import Distribution
from sops.models import Procedure

Doubles = npt.NDArray[np.float64]

MAX_RATIO = 3.0
"""One turn can make a kind of caller at most this much likelier, and at most this much less likely.

A small model names one cohort almost always, and one sentence seldom tells: bounded ratios let turns outvote a turn.
"""
MOOD_DRIFT = 0.08
"""Part of a cohort's mood mass that returns to its prior each turn: moods change within a call, cohorts do not."""


class Callers:
    """The joint (cohort, mood) of one procedure: its prior, and one Bayes step."""

    def __init__(self, procedure: Procedure) -> None:
        self.keys = tuple(f"{c}/{m}" for c, cohort in procedure.cohorts.items() for m in cohort.moods)
        self.cohorts = tuple(procedure.cohorts)
        self.cohort_of = np.array([self.cohorts.index(key.partition("/")[0]) for key in self.keys])
        self.mood_names = sorted({key.partition("/")[2] for key in self.keys})
        self.mood_of = np.array([self.mood_names.index(key.partition("/")[2]) for key in self.keys])
        prior = np.array([c.prior * m.prior for c in procedure.cohorts.values() for m in c.moods.values()])
        floored = np.maximum(prior, 1e-4)
        self.prior: Doubles = floored / floored.sum()

    def start(self, believed: Distribution) -> Doubles:
        """The joint to start this turn from: what was believed, or the prior of an unknown caller."""
        if not believed:
            return self.prior
        joint = np.array([max(believed.get(key, 0.0), 1e-6) for key in self.keys])
        out: Doubles = joint / joint.sum()
        return out

    def update(self, joint: Doubles, cohort_log_ratio: Doubles, mood_log_ratio: Doubles) -> Doubles:
        """Posterior after one utterance: moods drift a little, then the evidence is weighed."""
        return self.weigh(self._drift(joint), cohort_log_ratio, mood_log_ratio)

    def weigh(self, joint: Doubles, cohort_log_ratio: Doubles, mood_log_ratio: Doubles) -> Doubles:
        """Bayes with log ratios (one a cohort, one a key); beyond the bound they count as the bound."""
        bound = np.log(MAX_RATIO)
        by_cohort = np.clip(cohort_log_ratio, -bound, bound)[self.cohort_of]
        posterior = joint * np.exp(by_cohort + np.clip(mood_log_ratio, -bound, bound))
        out: Doubles = posterior / posterior.sum()
        return out

    def _drift(self, joint: Doubles) -> Doubles:
        mass = self.mass(joint)
        prior_mass = self.mass(self.prior)
        relaxed = self.prior * (mass / prior_mass)[self.cohort_of]
        out: Doubles = (1.0 - MOOD_DRIFT) * joint + MOOD_DRIFT * relaxed
        return out

    def mass(self, joint: Doubles) -> Doubles:
        """P(cohort)."""
        return np.bincount(self.cohort_of, weights=joint, minlength=len(self.cohorts)).astype(np.float64)

    def named(self, joint: Doubles) -> tuple[Distribution, Distribution]:
        """(cohort, mood) as the belief stores them."""
        cohort = dict(zip(self.cohorts, self.mass(joint).tolist(), strict=True))
        return cohort, dict(zip(self.keys, joint.tolist(), strict=True))

    def log_ratios(
        self, cohorts: Mapping[str, float], moods: Mapping[str, float], weight: float
    ) -> tuple[Doubles, Doubles]:
        """Evidence from somebody's stated probabilities (cohort names; "cohort/mood" or bare mood names), damped.

        What is not named counts as neither for nor against.
        """
        by_cohort = _log_ratio(np.array([cohorts.get(name, np.nan) for name in self.cohorts]))
        stated = [moods.get(key, moods.get(key.partition("/")[2], np.nan)) for key in self.keys]
        return weight * by_cohort, weight * _log_ratio(np.array(stated))


def _log_ratio(stated: Doubles) -> Doubles:
    """log p against the mean of what is stated; 0 where nothing is."""
    known = ~np.isnan(stated)
    out = np.zeros(len(stated))
    if known.sum() > 1:
        p = np.clip(stated[known], 0.02, 1.0)
        out[known] = np.log(p / p.mean())
    return out

"""Made-up service calls of the product's own size, drawn by the hundred thousand: what fills the store for timing.

Simulated, and only for timing: a caller of some cohort and mood says something given what the agent just did, and the
agent answers by where the procedure goes from there. Transitions are sparse, as in drawn procedures.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

N_SOPS = 6
N_ACTIONS = 12
N_STATES = 10
N_COHORTS = 7
N_MOODS = 4
N_SOURCES = 6
MAX_TURNS = 24
MEAN_TURNS = 10.0
SPARSENESS = 0.2
"""Dirichlet concentration: at 0.2 about three of twelve followers carry nearly all the weight."""

Indexes = npt.NDArray[np.int64]


class Calls(NamedTuple):
    """Calls side by side: one row per call, one column per turn; columns past a call's `length` mean nothing."""

    sop: Indexes
    cohort: Indexes
    mood: Indexes
    length: Indexes
    state: Indexes
    action: Indexes
    source: Indexes
    due: Indexes

    def first(self, n: int) -> "Calls":
        return Calls(*(part[:n] for part in self))


class World:
    """Procedures drawn once from a seed."""

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self._state = _cumulative(rng, (N_SOPS, N_ACTIONS, N_COHORTS * N_MOODS), N_STATES)
        self._action = _cumulative(rng, (N_SOPS, N_ACTIONS, N_STATES), N_ACTIONS)
        # A step consults one source or (0) none, whoever calls.
        self._source = rng.integers(0, N_SOURCES, (N_SOPS, N_ACTIONS))
        # What rules that know a little more than the step just taken would do next.
        self._due = rng.integers(0, N_ACTIONS, (N_SOPS, N_ACTIONS, N_STATES))

    def draw(self, rng: np.random.Generator, n_calls: int) -> Calls:
        """Calls of 3 to MAX_TURNS turns."""
        sop, cohort, mood = (rng.integers(0, n, n_calls) for n in (N_SOPS, N_COHORTS, N_MOODS))
        length = np.clip(rng.geometric(1.0 / (MEAN_TURNS - 2), n_calls) + 2, 3, MAX_TURNS)
        shape = (n_calls, MAX_TURNS)
        state, action = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        last = np.zeros(n_calls, np.int64)
        for turn in range(MAX_TURNS):
            state[:, turn] = _sample(rng, self._state[sop, last, cohort * N_MOODS + mood])
            last = action[:, turn] = _sample(rng, self._action[sop, last, state[:, turn]])
        source, due = self._source[sop[:, None], action], self._due[sop[:, None], action, state]
        return Calls(sop, cohort, mood, length, state, action, source, due)


def _cumulative(rng: np.random.Generator, given: tuple[int, ...], n: int) -> npt.NDArray[np.float64]:
    return np.cumsum(rng.dirichlet(np.full(n, SPARSENESS), given), axis=-1)


def _sample(rng: np.random.Generator, cumulative: npt.NDArray[np.float64]) -> Indexes:
    drawn = (rng.random((len(cumulative), 1)) > cumulative).sum(axis=1)
    capped: Indexes = np.minimum(drawn, cumulative.shape[1] - 1)
    return capped

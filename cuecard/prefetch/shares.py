"""Shares behind counts, when many counts have few shares in common: a free-form prior on a grid, learned along.

"Most never, a few one time in three" is a prior that pseudo-counts can't say (Kiefer and Wolfowitz 1956; Robbins 1956).
"""

import numpy as np

from cuecard.prefetch.value import Floats

SHARES = 60
ROUNDS = 40
"""Of expectation-maximisation on the prior; after twenty nothing moves by a hundredth."""


class Rates:
    """Shares behind counts, under a prior over a grid of shares that is learned along."""

    def __init__(self, grid: Floats, prior: Floats) -> None:
        self._grid, self._log, self._prior = grid, np.log(grid), prior

    def posterior(self, counts: Floats, out_of: Floats) -> Floats:
        """(cells, grid): what each cell's share may be, given its count and its row's total."""
        logs = counts[:, None] * self._log - out_of[:, None] * self._grid + np.log(self._prior + 1e-12)
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def draw(self, posterior: Floats, dice: np.random.Generator) -> Floats:
        chosen = (posterior.cumsum(axis=1) < dice.random(len(posterior))[:, None]).sum(axis=1)
        return np.asarray(self._grid[np.minimum(chosen, len(self._grid) - 1)])

    def mean(self, posterior: Floats) -> Floats:
        return np.asarray(posterior @ self._grid)

    def learn(self, total: Floats) -> None:
        """Take the summed posteriors of all cells for the prior of the next round."""
        self._prior = total / total.sum()


def likely_shares(hits: Floats, tries: Floats) -> Floats:
    """Each cell's expected share, given its hits out of its tries and what the other cells look like."""
    grid = np.linspace(0.0005, 0.9995, SHARES)
    k, n = hits.ravel()[:, None], tries.ravel()[:, None]
    logs = k * np.log(grid) + (n - k) * np.log1p(-grid)
    likelihood = np.exp(logs - logs.max(axis=1, keepdims=True))
    prior = np.full(SHARES, 1.0 / SHARES)
    seen = n[:, 0] > 0.0
    for _ in range(ROUNDS if seen.any() else 0):
        posterior = likelihood[seen] * prior
        prior = (posterior / posterior.sum(axis=1, keepdims=True)).mean(axis=0)
    posterior = likelihood * prior
    return np.asarray((posterior @ grid / posterior.sum(axis=1)).reshape(hits.shape))

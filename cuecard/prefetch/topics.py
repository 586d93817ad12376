"""Which question comes next: some follow from the last one, the others are what callers of this kind ask anyway.

Which of the two a past question was is not written down, so both readings are drawn again and again (Gibbs sampling)
and averaged. What "a few clear follow-ups among many that never come" looks like is learned from all questions at
once: a free-form prior on a grid (Kiefer and Wolfowitz 1956), instead of pseudo-counts that blur every row alike.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cuecard.prefetch.shares import Rates
from cuecard.prefetch.value import Floats

Rows = npt.NDArray[np.intp]

SWEEPS, FORGOTTEN = 150, 30
"""Draws of all readings, and how many of the first are not averaged; twice as many change nothing."""
POPULAR_STEPS, FOLLOW_STEPS = 30, 26
LEAST_FOLLOW = 3e-3
"""Below this, a follow-up is taken never to come."""
NEVER = 1e-5


class Step(NamedTuple):
    """One question of a past call; `last` is the row of the one before, -1 for a call's first."""

    cohort: int
    last: int
    question: int


class _Popular:
    """What callers of a cohort ask anyway."""

    def __init__(self, first: Floats) -> None:
        n = first.shape[1]
        grid = np.geomspace(0.02 / n, 0.6, POPULAR_STEPS)
        self._rates = Rates(grid, np.full(POPULAR_STEPS, 1.0 / POPULAR_STEPS))
        self._first = first

    def round(self, cohort: Rows, question: Rows, dice: np.random.Generator) -> tuple[Floats, Floats]:
        """(drawn shares, mean shares), both (cohort, question), after the given questions were read as popular."""
        counts = self._first.copy()
        np.add.at(counts, (cohort, question), 1.0)
        out_of = np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape)
        posterior = self._rates.posterior(counts.ravel(), out_of.ravel())
        drawn = self._rates.draw(posterior, dice).reshape(counts.shape)
        mean = self._rates.mean(posterior).reshape(counts.shape)
        self._rates.learn(posterior.sum(axis=0))
        return _rows_of_one(drawn), _rows_of_one(mean)


class _Chains:
    """What follows from a question. Pairs never seen are many and all alike in a row, so they are not drawn."""

    def __init__(self, last: Rows, question: Rows, n: int) -> None:
        seen, self._pair = np.unique(last * n + question, return_inverse=True)
        self._row, self._column, self._n = seen // n, seen % n, n
        self._unseen = n - np.bincount(self._row, minlength=n)
        grid = np.concatenate([[NEVER], np.geomspace(LEAST_FOLLOW, 1.0, FOLLOW_STEPS - 1)])
        self._rates = Rates(grid, np.concatenate([[0.9], np.full(FOLLOW_STEPS - 1, 0.1 / (FOLLOW_STEPS - 1))]))

    def round(self, follows: npt.NDArray[np.bool_], dice: np.random.Generator) -> tuple[Floats, Floats, Floats]:
        """(drawn share of each past step, mean shares of pairs seen, mean share of a pair unseen, by row)."""
        counts: Floats = np.bincount(self._pair, follows, minlength=len(self._row)).astype(float)
        out_of: Floats = np.bincount(self._row, counts, minlength=self._n).astype(float)
        posterior = self._rates.posterior(counts, out_of[self._row])
        unseen = self._rates.posterior(np.zeros(self._n), out_of)
        drawn, mean, rest = self._rates.draw(posterior, dice), self._rates.mean(posterior), self._rates.mean(unseen)
        self._rates.learn(posterior.sum(axis=0) + self._unseen @ unseen)
        whole = np.bincount(self._row, drawn, minlength=self._n) + self._unseen * rest
        whole_mean = np.bincount(self._row, mean, minlength=self._n) + self._unseen * rest
        return drawn[self._pair] / whole[self._row][self._pair], mean / whole_mean[self._row], rest / whole_mean

    def add_to(self, table: Floats, mean: Floats, rest: Floats) -> None:
        """Add a round's mean shares to (last, question)."""
        added = np.repeat(rest[:, None], self._n, axis=1)
        added[self._row, self._column] = mean
        table += added


def next_question(steps: Sequence[Step], n_cohorts: int, n_questions: int, dice: np.random.Generator) -> Floats:
    """(cohort, last question, question) probabilities; the last row of the middle axis is a call's first question."""
    n = n_questions
    found = np.zeros((n_cohorts, n + 1, n))
    if not n:
        return found
    cohort, last, question = (np.array(column) for column in zip(*steps, strict=True))
    chained = last >= 0
    first = np.zeros((n_cohorts, n))
    np.add.at(first, (cohort[~chained], question[~chained]), 1.0)
    c, q = cohort[chained], question[chained]
    popular, chains = _Popular(first), _Chains(last[chained], q, n)
    follows = dice.random(len(c)) < 0.5
    usual, after, share = np.zeros((n_cohorts, n)), np.zeros((n, n)), 0.0
    for sweep in range(SWEEPS):
        p_popular, mean_popular = popular.round(c[~follows], q[~follows], dice)
        p_chain, mean_chain, rest = chains.round(follows, dice)
        p_follow = dice.beta(1.0 + follows.sum(), 1.0 + (~follows).sum())
        by_chain, anyway = p_follow * p_chain, (1.0 - p_follow) * p_popular[c, q]
        follows = dice.random(len(c)) < by_chain / (by_chain + anyway)
        if sweep >= FORGOTTEN:
            usual += mean_popular
            chains.add_to(after, mean_chain, rest)
            share += p_follow
    kept = SWEEPS - FORGOTTEN
    share = share / kept if len(c) else 0.0
    found[:, :n] = share * after[None] / kept + (1.0 - share) * usual[:, None] / kept
    found[:, n] = usual / kept
    return found


def _rows_of_one(table: Floats) -> Floats:
    return np.asarray(table / table.sum(axis=1, keepdims=True))

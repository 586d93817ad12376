"""Which question comes next: some follow from the last one, the others are what callers of this kind ask anyway.

The two are told apart by expectation-maximisation, so that "what follows what" is not blurred by popularity, nor
popularity by chains. Held-out likelihood beat one count table with Pitman-Yor discounts (docs/decisions/0141).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from cuecard.prefetch.value import Floats

CHAIN_STRENGTH = 2.0
"""Pseudo-counts of popularity behind each question's follow-ups (docs/decisions/0141)."""
ROUNDS = 12


class Step(NamedTuple):
    """One question of a past call; `last` is the row of the one before, -1 for a call's first."""

    cohort: int
    last: int
    question: int


def next_question(
    steps: Sequence[Step], n_cohorts: int, n_questions: int, shrink: Callable[[Floats], Floats]
) -> Floats:
    """(cohort, last question, question) probabilities; the last row of the middle axis is a call's first question.

    `shrink` turns counts (cohort, question) into probabilities, leaning on the wider population.
    """
    n = n_questions
    found = np.zeros((n_cohorts, n + 1, n))
    if not n:
        return found
    cohort, last, question = (np.array(column) for column in zip(*steps, strict=True))
    chained = last >= 0
    c, a, b = cohort[chained], last[chained], question[chained]
    follows = np.full(len(a), 0.5)
    first = np.zeros((n_cohorts, n))
    np.add.at(first, (cohort[~chained], question[~chained]), 1.0)
    for _ in range(ROUNDS):
        counts = first.copy()
        np.add.at(counts, (c, b), 1.0 - follows)
        popular = shrink(counts)
        chain = np.zeros((n, n))
        np.add.at(chain, (a, b), follows)
        share = float(follows.mean()) if len(follows) else 0.0
        if not len(follows):
            break
        # Each step is judged by the others: with its own count it would always explain itself.
        others = chain[a, b] - follows + CHAIN_STRENGTH * popular[c, b]
        by_chain = share * others / (chain.sum(axis=1)[a] - follows + CHAIN_STRENGTH)
        by_popularity = (1.0 - share) * popular[c, b]
        follows = by_chain / np.maximum(by_chain + by_popularity, 1e-12)
    for row in range(n_cohorts):
        usual = popular[row]
        after = (chain + CHAIN_STRENGTH * usual) / (chain.sum(axis=1, keepdims=True) + CHAIN_STRENGTH)
        found[row, :n] = share * after + (1.0 - share) * usual
        found[row, n] = usual
    return found

"""Who is held out: a seeded random share of the sessions, or the latest ones by the clock."""

import random
from collections.abc import Sequence
from typing import NamedTuple

from evals.real.sessions import Session

SHARE = 0.2


class Split(NamedTuple):
    train: list[Session]
    test: list[Session]


def in_time_order(sessions: Sequence[Session]) -> list[Session]:
    """By the first turn's clock; ids are not in time order."""
    return sorted(sessions, key=lambda session: session.started_at)


def by_time(sessions: Sequence[Session], share: float = SHARE) -> Split:
    """The latest `share` is held out: what a deployed predictor meets."""
    ordered = in_time_order(sessions)
    cut = round(len(ordered) * (1.0 - share))
    return Split(ordered[:cut], ordered[cut:])


def at_random(sessions: Sequence[Session], seed: int, share: float = SHARE) -> Split:
    """A seeded random `share` is held out; both parts stay in time order."""
    ordered = in_time_order(sessions)
    n_held_out = round(len(ordered) * share)
    held_out = set(random.Random(seed).sample(range(len(ordered)), n_held_out))
    return Split(
        [session for index, session in enumerate(ordered) if index not in held_out],
        [session for index, session in enumerate(ordered) if index in held_out],
    )

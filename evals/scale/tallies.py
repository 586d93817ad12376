"""Counts of many calls at once, by array arithmetic: the same numbers that recording them one by one would give.

`tests/precedents/test_scale.py` holds the two together.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cuecard.precedents.packed import ENTRY, Entries, code
from cuecard.predictors.counts import HORIZON, Context
from evals.scale.world import (
    MAX_TURNS,
    N_ACTIONS,
    N_COHORTS,
    N_MOODS,
    N_SOPS,
    N_SOURCES,
    N_STATES,
    Calls,
    Indexes,
)

_KINDS = (("action", N_ACTIONS), ("source", N_SOURCES), ("state", N_STATES), ("topic", 1))
_COLUMNS = sum(size for _, size in _KINDS) * HORIZON
_TOPIC_LEVELS = ("sop", "last", "state")


class _Level(NamedTuple):
    name: str
    sizes: tuple[int, ...]
    """How many values each feature has."""
    n_actions: int
    """Turns that must have passed before the level exists."""


_LEVELS = (
    _Level("sop", (), 1),
    _Level("last", (N_ACTIONS,), 1),
    _Level("last2", (N_ACTIONS, N_ACTIONS), 2),
    _Level("last3", (N_ACTIONS, N_ACTIONS, N_ACTIONS), 3),
    _Level("state", (N_ACTIONS, N_STATES), 1),
    _Level("cohort", (N_ACTIONS, N_COHORTS), 1),
    _Level("mood", (N_ACTIONS, N_COHORTS, N_MOODS), 1),
    _Level("due", (N_ACTIONS, N_ACTIONS), 1),
)


class Found(NamedTuple):
    """One context and its entries, label ids and all still indexes of the world."""

    sop: int
    level: str
    features: tuple[int, ...]
    columns: Indexes
    n: Indexes
    weights: npt.NDArray[np.float64]


class Tallies:
    """Dense counts for every context that the world can produce."""

    def __init__(self) -> None:
        self._n = {level.name: np.zeros((_rows(level), _COLUMNS), np.int64) for level in _LEVELS}
        self._weights = {level.name: np.zeros((_rows(level), _COLUMNS)) for level in _LEVELS}

    def add(self, calls: Calls, weights: npt.NDArray[np.float64]) -> None:
        """Count calls; each call's turns weigh `weights[call]`."""
        for level in _LEVELS:
            cells, weight = [], []
            for offset in range(1, HORIZON + 1):
                for row, cell in _seen(calls, level, offset):
                    cells.append(cell)
                    weight.append(weights[row])
            where, amount = np.concatenate(cells), np.concatenate(weight)
            shape = self._n[level.name].shape
            size = shape[0] * shape[1]
            self._n[level.name] += np.bincount(where, minlength=size).reshape(shape)
            self._weights[level.name] += np.bincount(where, amount, size).reshape(shape)

    def found(self) -> Iterator[Found]:
        """Every context that was seen."""
        for level in _LEVELS:
            n = self._n[level.name]
            for row in np.flatnonzero(n.any(axis=1)).tolist():
                columns = np.flatnonzero(n[row])
                sop, *features = np.unravel_index(row, (N_SOPS, *level.sizes))
                place = tuple(int(feature) for feature in features)
                yield Found(
                    int(sop), level.name, place, columns, n[row, columns], self._weights[level.name][row, columns]
                )


def column_codes(label_ids: dict[str, list[int]]) -> Indexes:
    """The stored entry code of every column, given the stored ids of each kind's labels."""
    meanings = map(_meaning, range(_COLUMNS))
    return np.array([code(kind, offset, label_ids[kind][label]) for kind, offset, label in meanings])


def entries(found: Found, codes: Indexes) -> Entries:
    """The packed row; `codes` from `column_codes`."""
    out = np.empty(len(found.columns), ENTRY)
    out["code"], out["n"], out["weight"] = codes[found.columns], found.n, found.weights
    return out[np.argsort(out["code"])]


def context(found: Found, ids: dict[str, list[int]]) -> Context:
    """The context with stored ids, as `precedents.contexts.key` takes it."""
    kinds = {
        "state": ("action", "state"),
        "cohort": ("action", "cohort"),
        "mood": ("action", "cohort", "mood"),
    }.get(found.level, ("action",) * 3)
    return (found.level, *(str(ids[kind][feature]) for kind, feature in zip(kinds, found.features, strict=False)))


def _rows(level: _Level) -> int:
    return int(np.prod((N_SOPS, *level.sizes)))


def _meaning(column: int) -> tuple[str, int, int]:
    """Kind, offset and label index of a column."""
    for kind, size in _KINDS:
        if column < size * HORIZON:
            return kind, column // size + 1, column % size
        column -= size * HORIZON
    raise IndexError(column)


def _seen(calls: Calls, level: _Level, offset: int) -> Iterator[tuple[Indexes, Indexes]]:
    """For each kind: which call, and which cell (context, kind, offset, label), of every event at that offset."""
    begin = level.n_actions - 1
    target = np.arange(begin + offset, MAX_TURNS)
    if not len(target):
        return
    row, at = np.nonzero(target[None, :] < calls.length[:, None])
    now, then = at + begin, at + begin + offset
    features = {
        "sop": (),
        "last": (calls.action[row, now],),
        "last2": (calls.action[row, now], calls.action[row, now - 1]),
        "last3": (calls.action[row, now], calls.action[row, now - 1], calls.action[row, now - 2]),
        "state": (calls.action[row, now], calls.state[row, now]),
        "cohort": (calls.action[row, now], calls.cohort[row]),
        "mood": (calls.action[row, now], calls.cohort[row], calls.mood[row]),
        "due": (calls.action[row, now], calls.due[row, now]),
    }[level.name]
    context = np.ravel_multi_index((calls.sop[row], *features), (N_SOPS, *level.sizes))
    labels = {"action": calls.action, "source": calls.source, "state": calls.state}
    first = 0
    for kind, size in _KINDS:
        if kind in labels:
            yield row, context * _COLUMNS + first + (offset - 1) * size + labels[kind][row, then]
        elif level.name in _TOPIC_LEVELS:
            yield row, context * _COLUMNS + first + offset - 1
        first += size * HORIZON

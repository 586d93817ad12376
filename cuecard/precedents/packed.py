"""The counts of one context as one short row of bytes, so that a prediction reads one row per context.

An entry says how often one label was seen in one slot (a kind of event at an offset): the exact number `n` and the
decayed `weight`, 16 bytes, in order of (slot, label). `n` decides when an entry goes: a weight that was added and taken
away again may leave rounding dust, a count of zero does not.
"""

from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cuecard.predictors.counts import HORIZON

Entries = npt.NDArray[np.void]
Ids = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]

ENTRY = np.dtype([("code", "<u4"), ("n", "<i4"), ("weight", "<f8")])
LABEL_BITS = 24
KINDS = ("action", "source", "state", "topic")
"""What is counted. The order is part of the stored format: add at the end only."""
N_SLOTS = len(KINDS) * HORIZON


_SLOTS = {(kind, offset): n for n, (kind, offset) in enumerate(product(KINDS, range(1, HORIZON + 1)))}


def slot(kind: str, offset: int) -> int:
    """Number of the slot for `kind` at +`offset`."""
    return _SLOTS[kind, offset]


def code(kind: str, offset: int, label_id: int) -> int:
    """Slot and label as one number that sorts by slot."""
    return slot(kind, offset) << LABEL_BITS | label_id


class Tally(NamedTuple):
    """What some turns add to contexts (or, negated, take away): parallel arrays, one element an event or a sum of them.

    `tally` brings it into the order that `rows` needs: sorted by (key, code), no pair twice.
    """

    keys: Ids
    codes: Ids
    n: Ids
    weights: Numbers

    def negated(self) -> "Tally":
        return self._replace(n=-self.n, weights=-self.weights)


def tally(keys: Ids, codes: Ids, n: Ids, weights: Numbers) -> Tally:
    """Sums what shares a key and a code."""
    if not len(keys):
        return Tally(keys, codes, n, weights)
    order = np.lexsort((codes, keys))
    keys, codes = keys[order], codes[order]
    first = _starts((keys[1:] != keys[:-1]) | (codes[1:] != codes[:-1]))
    return Tally(keys[first], codes[first], np.add.reduceat(n[order], first), np.add.reduceat(weights[order], first))


def rows(change: Tally) -> dict[int, Entries]:
    """The entries of each context in `change`, by key."""
    if not len(change.keys):
        return {}
    entries = np.empty(len(change.keys), ENTRY)
    entries["code"], entries["n"], entries["weight"] = change.codes, change.n, change.weights
    starts = _starts(change.keys[1:] != change.keys[:-1])
    ends = [*starts[1:].tolist(), len(entries)]
    keys = change.keys[starts].tolist()
    return {key: entries[start:end] for key, start, end in zip(keys, starts.tolist(), ends, strict=True)}


def merge(old: Entries, change: Entries) -> Entries:
    """Both together; entries whose count falls to zero are gone."""
    where = np.searchsorted(old["code"], change["code"])
    known = where < len(old)
    known[known] = old["code"][where[known]] == change["code"][known]
    out = old.copy()
    out["n"][where[known]] += change["n"][known]
    out["weight"][where[known]] += change["weight"][known]
    if not known.all():
        out = np.insert(out, where[~known], change[~known])
    present = out["n"] > 0
    kept: Entries = out if present.all() else out[present]
    return kept


def _starts(differs: npt.NDArray[np.bool_]) -> Ids:
    """Where each run begins, given which elements differ from the one before."""
    return np.concatenate((np.zeros(1, np.int64), np.flatnonzero(differs) + 1))


def unpack(packed: bytes) -> Entries:
    entries: Entries = np.frombuffer(packed, ENTRY)
    return entries

"""The questions a session has asked ahead, so that nearly the same question later finds what they brought.

A question is guessed, or heard in part, before it is asked; word for word it almost never comes true. Its passages are
right all the same: from a query cosine of `NEAR` on, the best of them by the final words is the passage that a search
with the final words finds first in 86 to 100 % of cases (docs/decisions/0174).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from cuecard.prefetch.types import Item, Vector

NEAR = 0.8
"""Query cosine from which what one question brought may answer the other."""
SAME_BREATH = 0.65
"""The same for the unfinished words of the very utterance that is now complete (docs/decisions/0203)."""
MOVED = 0.7
"""Below this cosine to all words sent in this breath, they mean something else by now and are sent again."""
KEPT = 64
"""Questions remembered a session, newest first to stay: a call asks a few ahead in every turn."""

Embed = Callable[[Sequence[str]], Vector]


class Near(NamedTuple):
    """An earlier question that comes close: the arguments it was asked with."""

    args: str
    cosine: float


class _Row(NamedTuple):
    vector: Vector
    breath: int
    """Turn whose unfinished words it is; -1 for a question that was guessed."""


@dataclass(slots=True)
class Asked:
    """Query vectors by dependency and arguments."""

    _rows: dict[tuple[str, str], _Row] = field(default_factory=dict)
    _breath: int = -1
    _voiced: dict[str, list[Vector]] = field(default_factory=dict)

    def note(self, dep: str, args: str, vector: Vector, *, breath: int = -1) -> None:
        """This question was sent out; a known one becomes the newest. `breath`: the turn of the unfinished words."""
        self._rows.pop((dep, args), None)
        self._rows[dep, args] = _Row(vector, breath)
        while len(self._rows) > KEPT:
            del self._rows[next(iter(self._rows))]

    def vector_of(self, dep: str, args: str) -> Vector | None:
        """The embedding of a question that was sent out in these very words."""
        found = self._rows.get((dep, args))
        return None if found is None else found.vector

    def near(self, dep: str, vector: Vector, *, breath: int = -2) -> list[Near]:
        """Earlier questions to this dependency that come near enough, nearest first.

        Those of the same `breath` are the beginning of this one: they need not come as near.
        """
        found = []
        for (name, args), row in self._rows.items():
            cosine = float(np.dot(row.vector, vector)) if name == dep else 0.0
            if cosine >= (SAME_BREATH if row.breath == breath else NEAR):
                found.append(Near(args, cosine))
        return sorted(found, key=lambda one: -one.cosine)

    def voiced(self, dep: str, words: Vector, breath: int) -> bool:
        """Whether words like these went to `dep` in this breath already; if not, they count as sent from now on."""
        if breath != self._breath:
            self._breath, self._voiced = breath, {}
        sent = self._voiced.setdefault(dep, [])
        if any(float(np.dot(one, words)) >= MOVED for one in sent):
            return True
        sent.append(words)
        return False

    def __len__(self) -> int:
        return len(self._rows)


def nearest_item(items: Sequence[Item], vector: Vector) -> Item | None:
    """The passage nearest to these words, by its best sentence where they are known; None of none."""
    known = [item for item in items if item.vector is not None]
    if not known:
        return items[0] if items else None
    return max(known, key=lambda item: item.nearness(vector))

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
KEPT = 64
"""Questions remembered a session, newest first to stay: a call asks a few ahead in every turn."""

Embed = Callable[[Sequence[str]], Vector]


class Near(NamedTuple):
    """An earlier question that comes close: the arguments it was asked with."""

    args: str
    cosine: float


@dataclass(slots=True)
class Asked:
    """Query vectors by dependency and arguments."""

    _rows: dict[tuple[str, str], Vector] = field(default_factory=dict)

    def note(self, dep: str, args: str, vector: Vector) -> None:
        """This question was sent out; a known one becomes the newest."""
        self._rows.pop((dep, args), None)
        self._rows[dep, args] = vector
        while len(self._rows) > KEPT:
            del self._rows[next(iter(self._rows))]

    def vector_of(self, dep: str, args: str) -> Vector | None:
        """The embedding of a question that was sent out in these very words."""
        return self._rows.get((dep, args))

    def near(self, dep: str, vector: Vector) -> list[Near]:
        """Earlier questions to this dependency that come near enough, nearest first."""
        found = [Near(args, float(np.dot(row, vector))) for (name, args), row in self._rows.items() if name == dep]
        return sorted((one for one in found if one.cosine >= NEAR), key=lambda one: -one.cosine)

    def __len__(self) -> int:
        return len(self._rows)


def nearest_item(items: Sequence[Item], vector: Vector) -> Item | None:
    """The passage nearest to these words; None of none."""
    known = [item for item in items if item.vector is not None]
    if not known:
        return items[0] if items else None
    return max(known, key=lambda item: float(np.dot(item.vector, vector)))  # type: ignore[arg-type]

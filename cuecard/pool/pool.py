"""At most thirty items of one session in one preallocated matrix, ranked by the live words in some 30 microseconds.

Times are seconds of the clock that the caller passes as `now_s`; vectors are unit rows of float32.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from cuecard.pool.item import Item, Vector
from cuecard.pool.pieces import MOST_PIECES
from cuecard.pool.words import WordRows, shared_words, telling_words

CAP = 30
"""Items a session keeps; the account's figure, and more would be ranked, not shown (docs/decisions/0142)."""
DUPLICATE = 0.95
"""Cosine from which two passages may say the same thing; whether they do, their words decide (docs/decisions/0142)."""
SAME_WORDS = 0.8
"""Share of common words from which they do."""
PREVIOUS_TURN = 0.3
"""Weight of the turn before in the query: it helps where a question goes on, and hurts in calls, where the turn before
was more often about something else (docs/decisions/0142, 0150)."""
BONUS_ASKED = 0.1
"""Added to the cosine of what this turn's forecast asked for: a prior worth about a third of a true match."""
SAME_WORD = 0.015
"""Added for a shared word, times the logarithm of how rare it is in the pool: .04 at most (docs/decisions/0150)."""


_WORD = re.compile(r"[a-z]+|\d+")


class Pick(NamedTuple):
    """An item laid before the responder; picks are ordered by `score`."""

    item: Item
    cosine: float
    """Of the whole item: floors are set for it."""
    score: float
    """Cosine of its best piece, plus the bonus, plus what shared words weigh."""


def context_query(words: Vector, previous: Vector | None, weight: float = PREVIOUS_TURN) -> Vector:
    """The live words with a little of the turn before, as a unit vector: "and how much is that?" needs it."""
    mixed: Vector = words if previous is None else words + np.float32(weight) * previous
    norm = math.sqrt(mixed @ mixed)
    return mixed * np.float32(1.0 / norm) if norm > 0.0 else mixed


class Pool:
    """Adds, merges, expires, invalidates, pins and picks. One writer; reading does not change what is kept."""

    def __init__(self, cap: int = CAP, dim: int = 384) -> None:
        self.cap = cap
        self.dim = dim
        self.version = 0
        """Grows with every change, so that a reader can tell whether its copy is current."""
        self._matrix = np.zeros((1 + MOST_PIECES, cap, dim), np.float32)
        """The whole of each item, then its pieces; where there are fewer, the whole again."""
        self._words = WordRows(cap)
        self._bonus = np.zeros(cap, np.float32)
        self._items: list[Item] = []
        self._rows: dict[str, int] = {}
        self._used: list[int] = []
        self._worth: list[float] = []
        self._tick = 0

    def __len__(self) -> int:
        return len(self._items)

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(self._items)

    # --- changing -------------------------------------------------------------------------------------------------

    def add(self, item: Item, now_s: float = 0.0) -> bool:
        """Keep it whole, in place of the same item or of a near-duplicate; False when it lost to what is there.

        A near-duplicate is another passage of the same dependency, kind and facts. One of the two is dropped with text,
        data and expiry together. At the cap the item of least worth goes, the one unused longest among equals.
        """
        row = self._rows.get(item.id)
        if row is None:
            row = self._duplicate_of(item)
            if row is not None and self._items[row].pinned and not item.pinned:
                return False
        if row is not None:
            item.pinned = item.pinned or (self._items[row].id == item.id and self._items[row].pinned)
            self._put(row, item)
            return True
        if len(self._items) == self.cap:
            row = self._least(now_s)
            if row is None:
                return False
            self._put(row, item)
            return True
        self._items.append(item)
        self._used.append(0)
        self._worth.append(0.0)
        self._put(len(self._items) - 1, item)
        return True

    def remove(self, unwanted: Callable[[Item], bool]) -> list[Item]:
        """Drop what the test names, pinned or not; returns what went."""
        gone = [item for item in self._items if unwanted(item)]
        for item in gone:
            self._drop(self._rows[item.id])
        return gone

    def expire(self, now_s: float) -> list[Item]:
        """Drop what is past its time to live."""
        return self.remove(lambda item: not item.fresh(now_s))

    def invalidate(self, facts: Iterable[str]) -> list[Item]:
        """Drop what was fetched with facts that were corrected, and nothing else."""
        names = frozenset(facts)
        return self.remove(lambda item: bool(item.facts & names))

    def pin(self, item_id: str, pinned: bool = True) -> None:
        """A pinned item leaves only by expiry, invalidation or its own successor."""
        row = self._rows.get(item_id)
        if row is not None:
            self._items[row].pinned = pinned
            self.version += 1

    def asked_for(self, wanted: Mapping[str, float] | Iterable[str]) -> None:
        """Name the items (by id) that this turn's forecast asked for; only they get the bonus, others lose theirs."""
        weights = wanted if isinstance(wanted, Mapping) else dict.fromkeys(wanted, 1.0)
        for row, item in enumerate(self._items):
            self._bonus[row] = BONUS_ASKED * min(1.0, weights.get(item.id, 0.0))
        self.version += 1

    def value(self, worth: Mapping[str, float]) -> None:
        """Seconds each item (by id) is still expected to save; the least goes first when room is needed."""
        for row, item in enumerate(self._items):
            self._worth[row] = worth.get(item.id, 0.0)

    def touch(self, item_id: str) -> None:
        """It was used: keep it longer than what was not."""
        row = self._rows.get(item_id)
        if row is not None:
            self._tick += 1
            self._used[row] = self._tick
            self._items[row].uses += 1

    # --- reading --------------------------------------------------------------------------------------------------

    def by_id(self, item_id: str) -> Item | None:
        row = self._rows.get(item_id)
        return None if row is None else self._items[row]

    def get(self, dep: str, args: str | None, now_s: float) -> Item | None:
        """The fresh item that answers exactly this question (any arguments when `args` is None)."""
        for item in self._items:
            if item.dep == dep and (args is None or item.args == args) and item.fresh(now_s):
                return item
        return None

    def all_of(self, dep: str, args: str | None, now_s: float) -> list[Item]:
        """Like `get`, all of them: a query may have brought several passages."""
        return [i for i in self._items if i.dep == dep and (args is None or i.args == args) and i.fresh(now_s)]

    def pick(
        self, query: Vector, k: int = 3, now_s: float = 0.0, floor: float = -1.0, *, words: str = ""
    ) -> list[Pick]:
        """The `k` fresh items that fit best, best first, no two of them near-duplicates.

        `query` embeds what was just said (see `context_query`), `words` are the words; without them vectors decide.
        """
        n = len(self._items)
        if n == 0:
            return []
        cosines = (self._matrix.reshape(-1, self.dim) @ query).reshape(-1, self.cap)
        scores = (cosines.max(axis=0) + self._bonus).tolist()[:n]
        if words:
            self._words.add_shared(telling_words(words), scores, SAME_WORD)
        return self._best(cosines[0], scores, k, now_s, floor)

    def nearest(self, query: Vector, k: int = 3, now_s: float = 0.0) -> list[Pick]:
        """The `k` fresh items whose wholes are nearest to `query`: plain cosine, which the others are measured by."""
        n = len(self._items)
        if n == 0:
            return []
        cosines = self._matrix[0, :n] @ query
        return self._best(cosines, cosines.tolist(), k, now_s, -1.0)

    # --- snapshots ------------------------------------------------------------------------------------------------

    def to_json(self, now_s: float = 0.0) -> dict[str, Any]:
        """A versioned snapshot for the blackboard: everything another process needs to go on."""
        return {
            "version": self.version,
            "cap": self.cap,
            "dim": self.dim,
            "items": [item.to_json(now_s) for item in self._items],
            "bonus": self._bonus[: len(self._items)].tolist(),
            "used": list(self._used),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], now_s: float = 0.0, away_s: float = 0.0) -> "Pool":
        """The pool back, every item `away_s` seconds older; what expired meanwhile is not in it."""
        pool = cls(data["cap"], data["dim"])
        for row, bonus, used in zip(data["items"], data["bonus"], data["used"], strict=True):
            item = Item.from_json(row, now_s, away_s)
            if item.fresh(now_s):
                pool._items.append(item)
                pool._used.append(used)
                pool._worth.append(0.0)
                at = len(pool._items) - 1
                pool._put(at, item)
                pool._bonus[at] = bonus
                pool._used[at] = used
                pool._tick = max(pool._tick, used)
        pool.version = data["version"]
        return pool

    # --- inside ---------------------------------------------------------------------------------------------------

    def _best(self, cosines: Vector, scores: list[float], k: int, now_s: float, floor: float) -> list[Pick]:
        """Fresh and different items, best first by `scores`."""
        rows: list[int] = []
        for row in sorted(range(len(scores)), key=scores.__getitem__, reverse=True):
            if scores[row] <= floor or len(rows) == k:
                break
            if self._items[row].fresh(now_s) and not any(self._same(row, other) for other in rows):
                rows.append(row)
        return [Pick(self._items[row], float(cosines[row]), scores[row]) for row in rows]

    def _put(self, row: int, item: Item) -> None:
        if row < len(self._items):
            self._rows.pop(self._items[row].id, None)
        self._items[row] = item
        self._rows[item.id] = row
        self._matrix[:, row] = 0.0 if item.vector is None else item.vector
        if item.vector is not None and item.pieces is not None:
            rows = item.pieces[:MOST_PIECES]
            self._matrix[1 : 1 + len(rows), row] = rows
        said = f"{item.title} {item.text}"
        # What is anybody's is read once a process; what is somebody's leaves no trace in it.
        self._words.put(row, shared_words(said) if item.scope == "shared" else telling_words(said))
        self._bonus[row] = 0.0
        self._tick += 1
        self._used[row] = self._tick
        self._worth[row] = 0.0
        self.version += 1

    def _drop(self, row: int) -> None:
        """Remove a row by moving the last one into its place: the matrix stays dense."""
        last = len(self._items) - 1
        del self._rows[self._items[row].id]
        if row != last:
            self._items[row] = self._items[last]
            self._rows[self._items[row].id] = row
            self._matrix[:, row] = self._matrix[:, last]
            self._bonus[row] = self._bonus[last]
            self._used[row] = self._used[last]
            self._worth[row] = self._worth[last]
        self._words.move(last, row)
        self._items.pop()
        self._used.pop()
        self._worth.pop()
        self.version += 1

    def _least(self, now_s: float) -> int | None:
        """The row to give up: expired first, then least worth, then longest unused; None when all are pinned."""
        candidates = [row for row, item in enumerate(self._items) if not item.pinned]
        if not candidates:
            return None
        return min(candidates, key=lambda row: (self._items[row].fresh(now_s), self._worth[row], self._used[row]))

    def _duplicate_of(self, item: Item) -> int | None:
        if item.vector is None or not self._items:
            return None
        near = np.flatnonzero(self._matrix[0, : len(self._items)] @ item.vector >= DUPLICATE).tolist()
        return next((row for row in near if _mergeable(self._items[row], item)), None)

    def _same(self, row: int, other: int) -> bool:
        # Vectors first: comparing words takes as long as the whole rest of a pick.
        near = float(self._matrix[0, row] @ self._matrix[0, other]) >= DUPLICATE
        return near and _mergeable(self._items[row], self._items[other])


def _mergeable(a: Item, b: Item) -> bool:
    """Whether one may stand for the other. Records never: two accounts read alike and differ in one digit."""
    if a.dep != b.dep or a.kind != b.kind or a.facts != b.facts or (a.tenant, a.session) != (b.tenant, b.session):
        return False
    if a.id.startswith(f"{a.dep}:") or b.id.startswith(f"{b.dep}:"):
        return False
    return _says_the_same(f"{a.title} {a.text}", f"{b.title} {b.text}")


def _says_the_same(a: str, b: str) -> bool:
    """Nearly the same words and exactly the same numbers.

    Vectors alone can't tell: on a corpus of 1,920 near-twins (the same rule for other cars or levels of cover) merging
    by cosine threw the right document out of the pool four times in five (docs/decisions/0142).
    """
    words_a, words_b = set(_WORD.findall(a.casefold())), set(_WORD.findall(b.casefold()))
    if {w for w in words_a if w.isdigit()} != {w for w in words_b if w.isdigit()}:
        return False
    return len(words_a & words_b) >= SAME_WORDS * len(words_a | words_b)

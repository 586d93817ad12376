"""Ways to choose among a pool's items, behind one seam, so that they can be compared (docs/decisions/0143).

The default needs no model: the cosine of the best sentence and shared words, near-duplicates dropped, top three. A
model is asked only when the three still hold near-duplicates that the vectors could not settle.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from cuecard.pool.item import Item, Vector
from cuecard.pool.pool import Pick, Pool

Rerank = Callable[[str, Sequence[Item]], Awaitable[Sequence[int]]]
"""A model's order: words and candidates in, candidate numbers out, best first. Unknown numbers are ignored."""

GATE_FLOOR = 0.50
GATE_MARGIN = 0.05
"""The account's confidence gate: the best must reach the floor and lead the second by the margin."""
PREFILTER = 8
UNSETTLED = 0.90
"""From this cosine on, two picks say nearly the same; below `DUPLICATE` (0.95) dedup has left both standing."""


@dataclass(frozen=True, slots=True)
class Glance:
    """What a choice is made by."""

    words: str
    query: Vector
    """See `context_query`."""
    now_s: float = 0.0
    k: int = 3
    wants: tuple[tuple[str, str], ...] = ()
    """(dependency, canonical arguments) that the action at hand needs, for exact look-up."""


class Selection(Protocol):
    """Chooses at most `k` fresh items, best first. Never raises for an empty pool."""

    async def select(self, pool: Pool, glance: Glance) -> list[Pick]: ...


class KeyLookup:
    """Exactly what was asked for under its key, or nothing: right for records, blind to free questions."""

    async def select(self, pool: Pool, glance: Glance) -> list[Pick]:
        found = [pool.get(dep, args, glance.now_s) for dep, args in glance.wants]
        return [Pick(item, 1.0, 1.0) for item in found if item is not None][: glance.k]


class Cosine:
    """Plain cosine of whole items: what the pool's own ranking is measured by."""

    async def select(self, pool: Pool, glance: Glance) -> list[Pick]:
        return pool.nearest(glance.query, glance.k, glance.now_s)


class ConfidenceGate:
    """The best item if it is clearly the best, else nothing."""

    async def select(self, pool: Pool, glance: Glance) -> list[Pick]:
        picks = pool.nearest(glance.query, 2, glance.now_s)
        if not picks or picks[0].cosine < GATE_FLOOR:
            return []
        clear = len(picks) < 2 or picks[0].cosine - picks[1].cosine >= GATE_MARGIN
        return picks[:1] if clear else []


@dataclass(frozen=True, slots=True)
class LlmRerank:
    """A model orders everything there is, or with `prefilter` only the nearest few."""

    rerank: Rerank
    prefilter: int | None = None

    async def select(self, pool: Pool, glance: Glance) -> list[Pick]:
        picks = pool.pick(glance.query, self.prefilter or pool.cap, glance.now_s, words=glance.words)
        return (await _ordered(self.rerank, glance.words, picks))[: glance.k]


@dataclass(frozen=True, slots=True)
class CosineThenLlm:
    """The default: the pool's ranking; a model, where there is one, only for near-duplicates among the picks."""

    rerank: Rerank | None = None

    async def select(self, pool: Pool, glance: Glance) -> list[Pick]:
        picks = pool.pick(glance.query, glance.k, glance.now_s, words=glance.words)
        if self.rerank is None or not unsettled(picks):
            return picks
        return await _ordered(self.rerank, glance.words, picks)


def unsettled(picks: Sequence[Pick]) -> bool:
    """Whether two of the picks are so alike that their order means little."""
    vectors = [pick.item.vector for pick in picks if pick.item.vector is not None]
    return any(float(a @ b) >= UNSETTLED for n, a in enumerate(vectors) for b in vectors[n + 1 :])


async def _ordered(rerank: Rerank, words: str, picks: list[Pick]) -> list[Pick]:
    """In the model's order; what it did not name keeps its place behind."""
    if len(picks) < 2:
        return picks
    order = await rerank(words, [pick.item for pick in picks])
    named = list(dict.fromkeys(n for n in order if 0 <= n < len(picks)))
    return [picks[n] for n in named] + [pick for n, pick in enumerate(picks) if n not in named]

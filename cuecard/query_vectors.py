"""Embeddings of a session's queries, by their words: each computed once, and ahead where it can be foreseen."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cuecard.predictors.types import Vector
from cuecard.prefetch.asked import Embed

KEPT = 64
"""Queries remembered a session: a call asks a few ahead in every turn."""


@dataclass(slots=True)
class QueryVectors:
    """Joins an embedding under way. Case and punctuation do not tell queries apart: recognisers add them late."""

    embed: Embed
    _known: dict[str, asyncio.Future[Vector]] = field(default_factory=dict)

    async def of(self, query: str) -> Vector:
        """The embedding of these words; raises what the embedder raised."""
        # Shielded: others may wait for the same words.
        return await asyncio.shield(self.begin(query))

    def begin(self, query: str) -> asyncio.Future[Vector]:
        """Have it embedded off the loop, unless it was or is being."""
        name = _folded(query)
        known = self._known.get(name)
        if known is not None and not (known.done() and (known.cancelled() or known.exception() is not None)):
            return known
        future = asyncio.ensure_future(asyncio.to_thread(_first_row, self.embed, query))
        # Nobody may be waiting when it fails.
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._known[name] = future
        while len(self._known) > KEPT:
            del self._known[next(iter(self._known))]
        return future


def _first_row(embed: Embed, query: str) -> Vector:
    texts: Sequence[str] = [query]
    return np.asarray(embed(texts)[0], np.float32)


def _folded(query: str) -> str:
    return " ".join(re.findall(r"\w+", query.casefold()))

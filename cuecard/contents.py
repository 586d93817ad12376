"""A small corpus as its table of contents has it, so that a few broad searches serve most of what callers will ask.

A title and the one approved sentence say what a document is good for; they come with the corpus and cost no search.
From them it is known which document the live words would find, hence whether it lies in the pool already.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from corpus import Document
from cuecard.predictors.types import Vector
from cuecard.prefetch.asked import Embed

SMALL = 60
"""Documents of a corpus up to which it has contents here: beyond, a broad search covers too little to be worth it."""
BROAD_K = 30
"""Passages a broad search asks for: as many as a pool holds (docs/decisions/0206)."""


class Broad(NamedTuple):
    """One broad search: its words, and the documents it should bring."""

    query: str
    vector: Vector
    covers: frozenset[str]


@dataclass(frozen=True)
class Contents:
    """What is in a corpus, as unit rows of its titles and approved sentences."""

    documents: tuple[Document, ...]
    titles: Vector
    rows: Vector

    def nearest(self, query: Vector) -> str:
        """The id of the document that these words are about, as far as the contents tell."""
        return self.documents[int(np.argmax(self.rows @ query))].id

    def reach(self, query: Vector) -> frozenset[str]:
        """The documents that a broad search for these words should bring."""
        return frozenset(self.documents[n].id for n in np.argsort(-(self.rows @ query))[:BROAD_K])

    @cached_property
    def searches(self) -> tuple[Broad, ...]:
        """Titles as queries, each the one that adds most to what those before it cover."""
        found: list[Broad] = []
        reach = [self.reach(row) for row in self.titles]
        left = {one.id for one in self.documents}
        while left:
            best = max(range(len(reach)), key=lambda n: len(reach[n] & left))
            found.append(Broad(self.documents[best].title, self.titles[best], reach[best]))
            left -= reach[best]
        return tuple(found)

    def adds(self, search: Broad, there: Collection[str]) -> float:
        """The share of the corpus that this search should bring beyond what is there."""
        return len(search.covers.difference(there)) / len(self.documents)


def contents_of(documents: Sequence[Document], embed: Embed) -> Contents | None:
    """The contents of a small corpus; None of a large one, which is not looked through."""
    if not 0 < len(documents) <= SMALL:
        return None
    titles = np.asarray(embed([one.title for one in documents]), np.float32)
    spoken = np.asarray(embed([one.answer or one.title for one in documents]), np.float32)
    rows = titles + spoken
    unit = np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)
    return Contents(tuple(documents), titles, unit)

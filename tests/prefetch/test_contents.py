"""What a table of contents tells about a corpus without a search."""

from collections.abc import Sequence

import numpy as np

from corpus import Document
from cuecard.contents import BROAD_K, SMALL, contents_of
from cuecard.pool.pool import CAP
from cuecard.predictors.types import Vector

N = 48


def _document(n: int) -> Document:
    return Document(f"d{n}", f"title {n}", "", "text", f"answer {n}")


def _embed(texts: Sequence[str]) -> Vector:
    """Documents stand side by side on a circle, each seven and a half degrees from the next."""
    angles = np.radians([360.0 / N * int(text.split()[-1]) for text in texts])
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_the_nearest_document_is_known_without_a_search() -> None:
    contents = contents_of([_document(n) for n in range(N)], _embed)
    assert contents is not None
    assert contents.nearest(_embed(["question 7"])[0]) == "d7"


def test_its_searches_cover_the_corpus_and_each_covers_most_of_what_is_left() -> None:
    contents = contents_of([_document(n) for n in range(N)], _embed)
    assert contents is not None
    there: set[str] = set()
    shares = []
    for search in contents.searches:
        shares.append(contents.adds(search, there))
        there |= search.covers
    assert there == {f"d{n}" for n in range(N)}
    assert len(shares) == 2, "one, and one for the rest"
    assert shares == sorted(shares, reverse=True)
    assert all(len(search.covers) == BROAD_K for search in contents.searches)
    assert all(np.allclose(search.vector, _embed([search.query])[0]) for search in contents.searches)


def test_one_search_brings_the_whole_of_a_corpus_that_a_pool_can_hold() -> None:
    contents = contents_of([_document(n) for n in range(CAP)], _embed)
    assert contents is not None
    (search,) = contents.searches
    assert contents.adds(search, set()) == 1.0


def test_half_heard_words_bring_the_documents_around_them() -> None:
    contents = contents_of([_document(n) for n in range(N)], _embed)
    assert contents is not None
    brought = contents.reach(_embed(["question 7"])[0])
    assert {"d6", "d7", "d8"} <= brought
    assert "d31" not in brought, "it lies on the other side"


def test_a_large_corpus_and_an_empty_one_have_no_contents() -> None:
    assert contents_of([_document(n) for n in range(SMALL + 1)], _embed) is None
    assert contents_of([], _embed) is None

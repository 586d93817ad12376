"""The pool bench's protocol on a library made of unit vectors, where right and wrong can be counted by hand."""

import numpy as np

from corpus import Document
from evals.poolbench.corpora import Library
from evals.poolbench.run import Tricks, plain, pooled

N = 60


def library(*, earlier_same: bool) -> Library:
    """Document n answers question n; with `earlier_same` callers had asked the very same thing a turn before."""
    unit = np.eye(N, 384, dtype=np.float32)
    return Library(
        "unit",
        [Document(f"d{n}", f"title {n}", "", f"passage {n}", "") for n in range(N)],
        vectors=unit,
        titles=unit,
        pieces=[np.zeros((0, 384), np.float32)] * N,
        words=[""] * N,
        questions=unit,
        before=np.zeros_like(unit),
        golds=[frozenset({n}) for n in range(N)],
        earlier=unit if earlier_same else np.zeros((0, 384), np.float32),
        n_earlier=[int(earlier_same)] * N,
    )


def test_a_predictor_that_is_always_right_finds_everything() -> None:
    found = pooled(library(earlier_same=False), 1.0, Tricks())
    assert (found.hits, found.n) == (N, N)
    assert plain(library(earlier_same=False)).rate == 1.0


def test_one_that_is_never_right_finds_hardly_anything() -> None:
    assert pooled(library(earlier_same=False), 0.0, Tricks()).rate < 0.5


def test_what_an_earlier_turn_of_the_conversation_searched_for_is_still_there() -> None:
    asked_before = library(earlier_same=True)
    assert pooled(asked_before, 0.0, Tricks()).rate == 1.0
    assert pooled(asked_before, 0.0, Tricks(conversation=False)).rate < 0.5

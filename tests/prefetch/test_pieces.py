"""A passage's sentences are embedded on the way into the pool, but not while a caller waits for it."""

import random
from collections.abc import Sequence

import numpy as np

from cuecard.clock import LoopClock, run_virtual
from cuecard.prefetch.attempts import Attempts
from cuecard.prefetch.flight import Work
from cuecard.prefetch.types import FetchCall, FetchResult, Record, Vector
from tests.prefetch.helpers import job

TEXT = "Glass is covered. Call the glazier first."


class Passages:
    async def fetch(self, call: FetchCall) -> FetchResult:
        titled = Record(TEXT, {"title": "Glass"}, id="glass")
        return FetchResult((titled, Record("Fiesta. Five doors.", id="policy")))


def fetched(*, waited_for: Sequence[bool]) -> tuple[list[Record], list[str]]:
    """The passage after each fetch in turn, and all that was embedded."""
    embedded: list[str] = []

    def embed(texts: Sequence[str]) -> Vector:
        embedded.extend(texts)
        return np.ones((len(texts), 8), np.float32)

    async def run() -> list[Record]:
        attempts = Attempts({"table": Passages()}, LoopClock(), random.Random(0), embed)
        found = []
        for waiting in waited_for:
            wish = job()
            result = await attempts.fetch(wish.call, Work(wish.key, "rows", background=not waiting))
            found.append(result.records[0])
            assert result.records[1].pieces is None, "a record is found by its key"
        return found

    return run_virtual(run()), embedded


def test_a_passage_fetched_ahead_brings_a_row_for_each_sentence_under_its_title() -> None:
    (passage,), embedded = fetched(waited_for=[False])
    assert passage.pieces is not None
    assert passage.pieces.shape == (2, 8)
    assert "Glass. Call the glazier first." in embedded


def test_a_waiting_caller_is_not_kept_by_sentences_which_the_next_fetch_ahead_brings() -> None:
    (live, ahead, again), embedded = fetched(waited_for=[True, False, True])
    assert live.vector is not None
    assert live.pieces is None
    assert ahead.pieces is not None
    assert again.pieces is not None, "what is remembered costs nothing"
    assert len(embedded) == len(set(embedded)) == 4

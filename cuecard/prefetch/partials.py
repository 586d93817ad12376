"""Listens to unfinished words: queries leave before the caller stops, and the end of the turn costs nothing."""

import asyncio
import contextvars
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from cuecard.clock import Clock
from cuecard.prefetch.types import Vector

DEBOUNCE_S = 0.12
"""Silence between two pieces of transcript before we look: recognisers revise themselves several times a second."""
MIN_WORDS = 3
"""Fewer words than this say nothing worth asking."""

Embed = Callable[[Sequence[str]], Vector]


class Words(NamedTuple):
    """What was said, its embedding, and whether that was at hand already."""

    text: str
    vector: Vector
    reused: bool


class PartialListener:
    """One per session. `hear` returns at once; `finish` gives the final words' embedding, reused when unchanged."""

    def __init__(
        self,
        embed: Embed,
        clock: Clock,
        *,
        on_words: Callable[[str], None],
        on_vector: Callable[[str, Vector], None],
    ) -> None:
        """`on_words` sees every settled piece (facts become ready in it), `on_vector` each with its meaning."""
        self._embed = embed
        self._clock = clock
        self._on_words = on_words
        self._on_vector = on_vector
        self._task: asyncio.Task[None] | None = None
        self._embedding: tuple[str, asyncio.Future[Vector]] | None = None
        """The last words embedded, or being embedded."""

    def hear(self, text: str) -> None:
        """The transcript so far; looked at once it has been still for `DEBOUNCE_S`. Never speaks, never raises."""
        self.cancel()
        loop = asyncio.get_running_loop()
        self._task = loop.create_task(self._settle(" ".join(text.split())), context=contextvars.Context())

    async def finish(self, text: str) -> Words:
        """The final words. No embedding runs when they are what was heard last."""
        self.cancel()
        words = _normal(text)
        reused = self._embedding is not None and self._embedding[0] == words and self._embedding[1].done()
        vector = await self._vector(words)
        if self._embedding is not None and self._embedding[0] == words:
            self._embedding = None
        return Words(text, vector, reused)

    def expect(self, text: str) -> None:
        """These words are about to be final: embed them now, beside whatever else the turn begins with."""
        self.cancel()
        if words := _normal(text):
            self._embed_words(words)

    def cancel(self) -> None:
        """Forget what has not settled: a barge-in, a correction, the end of the call."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _settle(self, text: str) -> None:
        await self._clock.sleep(DEBOUNCE_S)
        words = _normal(text)
        if not words:
            return
        # As it was said: what is asked with these words is joined by the final ones only if they are the same.
        self._on_words(text)
        vector = await self._vector(words)
        if len(words.split()) < MIN_WORDS:
            return
        self._on_vector(text, vector)

    async def _vector(self, words: str) -> Vector:
        # Shielded: a thread can't be stopped, and its work is what the end of the turn wants to find.
        return await asyncio.shield(self._embed_words(words))

    def _embed_words(self, words: str) -> asyncio.Future[Vector]:
        """The words' embedding under way or done; one that failed is tried again."""
        if self._embedding is not None and self._embedding[0] == words:
            future = self._embedding[1]
            if not (future.done() and (future.cancelled() or future.exception() is not None)):
                return future
        future = asyncio.ensure_future(asyncio.to_thread(self._first_row, words))
        # Nobody may be waiting any more when it fails.
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._embedding = words, future
        return future

    def _first_row(self, words: str) -> Vector:
        return np.asarray(self._embed([words])[0], np.float32)


def _normal(text: str) -> str:
    """Recognisers add case and stops at the end; the meaning is the same."""
    return " ".join(text.split()).strip(" .,!?").casefold()

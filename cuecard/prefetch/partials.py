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
MOVED = 0.85
"""Below this cosine to the query last sent, the words mean something else by now and the query is sent again."""
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
        on_query: Callable[[str, Vector], None],
    ) -> None:
        """`on_words` sees every settled piece (facts become ready in it); `on_query` only what moved in meaning."""
        self._embed = embed
        self._clock = clock
        self._on_words = on_words
        self._on_query = on_query
        self._task: asyncio.Task[None] | None = None
        self._embedded: tuple[str, Vector] | None = None
        self._asked: Vector | None = None
        self._lock = asyncio.Lock()

    def hear(self, text: str) -> None:
        """The transcript so far; looked at once it has been still for `DEBOUNCE_S`. Never speaks, never raises."""
        self.cancel()
        loop = asyncio.get_running_loop()
        self._task = loop.create_task(self._settle(" ".join(text.split())), context=contextvars.Context())

    async def finish(self, text: str) -> Words:
        """The final words. No embedding runs when they are what was heard last."""
        self.cancel()
        words = _normal(text)
        async with self._lock:
            reused = self._embedded is not None and self._embedded[0] == words
            vector = await self._vector(words)
        self._embedded = None
        self._asked = None
        return Words(text, vector, reused)

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
        async with self._lock:
            vector = await self._vector(words)
        if len(words.split()) < MIN_WORDS:
            return
        if self._asked is None or float(np.dot(self._asked, vector)) < MOVED:
            self._asked = vector
            self._on_query(text, vector)

    async def _vector(self, words: str) -> Vector:
        if self._embedded is not None and self._embedded[0] == words:
            return self._embedded[1]
        # Shielded: a thread can't be stopped, and its work is what the end of the turn wants to find.
        rows = await asyncio.shield(asyncio.ensure_future(asyncio.to_thread(self._embed, [words])))
        vector = np.asarray(rows[0], np.float32)
        self._embedded = (words, vector)
        return vector


def _normal(text: str) -> str:
    """Recognisers add case and stops at the end; the meaning is the same."""
    return " ".join(text.split()).strip(" .,!?").casefold()

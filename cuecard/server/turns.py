"""A turn under way at the gateway, and those who listen to it: a repeated request joins it and takes no other."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable

from cuecard.server.placing import Wish
from cuecard.session import Piece


class LiveTurn:
    """Collects the pieces of one reply. When its last listener leaves, speech stops."""

    def __init__(self, wish: Wish) -> None:
        self.wish = wish
        self.began = time.perf_counter()
        self.pieces: list[Piece] = []
        self.task: asyncio.Task[None] | None = None
        self.done = False
        self.closing = False
        """It was hushed or dropped: a repeated request must not join what will not be said."""
        self.error: BaseException | None = None
        self.hush: Callable[[], None] = lambda: None
        """Ends the speech of a turn that is being spoken; set by whoever speaks it."""
        self.wrote: Callable[[], bool] = lambda: False
        """Whether a write has left in this turn; set likewise."""
        self._listeners = 0
        self._news = asyncio.Event()

    def put(self, piece: Piece) -> None:
        self.pieces.append(piece)
        self._wake()

    def end(self, error: BaseException | None = None) -> None:
        self.done, self.error = True, error
        self._wake()

    def ended(self) -> None:
        if not self.done:
            self.end()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    @property
    def said_something(self) -> bool:
        return any(not piece.holding for piece in self.pieces)

    async def listen(self) -> AsyncGenerator[Piece]:
        """All pieces from the first on; raises what the turn raised. Close it when nobody listens any more."""
        self._listeners += 1
        heard = 0
        try:
            while True:
                while heard < len(self.pieces):
                    heard += 1
                    yield self.pieces[heard - 1]
                if self.done:
                    break
                await self._news.wait()
            if self.error is not None:
                raise self.error
        finally:
            self._listeners -= 1
            if self._listeners == 0:
                self.leave()

    def leave(self) -> None:
        """Barge-in. What was said of the reply counts; a reply of which nothing was said takes no turn.

        Fetches go on either way, and a write that has left comes home.
        """
        if self.done:
            return
        if self.said_something:
            self.closing = True
            self.hush()
        else:
            self.drop()

    def drop(self) -> None:
        """Other words take its place: whatever was said of it, it takes no turn, unless it has written already."""
        if self.done or self.task is None:
            return
        self.closing = True
        if self.wrote():
            self.hush()
        else:
            self.task.cancel()

    async def over(self, patience_s: float) -> None:
        """Wait until it has ended; after a while it is dropped."""
        if self.task is None or self.task.done():
            return
        done, _ = await asyncio.wait([self.task], timeout=patience_s)
        if not done:
            self.drop()
            await asyncio.wait([self.task])

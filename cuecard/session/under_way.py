"""A turn under way: it goes as far as somebody follows it, unless it has written. Then it goes to its end."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import NamedTuple

from cuecard.blackboard import Board

log = logging.getLogger(__name__)


class Piece(NamedTuple):
    """A piece of speech as it comes; `holding` while the caller is asked for patience."""

    text: str
    holding: bool = False


Put = Callable[[Piece], Awaitable[None]]


class UnderWay:
    """Runs a turn in a task of its own: whoever listens may be cancelled or leave, and what was done is still booked.

    `work` is given `put`, which hands a piece over and returns when the listener comes back for the next.
    """

    def __init__(self, board: Board, work: Callable[[Put], Awaitable[None]]) -> None:
        self._board = board
        self._before = board.live
        self._pieces: asyncio.Queue[Piece | None] = asyncio.Queue()
        self._wanted = asyncio.Event()
        self._followed = True
        self._task = asyncio.get_running_loop().create_task(self._run(work))

    async def _run(self, work: Callable[[Put], Awaitable[None]]) -> None:
        try:
            await work(self._put)
        finally:
            self._pieces.put_nowait(None)

    async def _put(self, piece: Piece) -> None:
        self._wanted.clear()
        self._pieces.put_nowait(piece)
        if self._followed:
            await self._wanted.wait()

    async def pieces(self) -> AsyncGenerator[Piece]:
        """What is said; raises what the turn raised. Closed or cancelled before its end, it leaves the turn."""
        try:
            while (piece := await self._pieces.get()) is not None:
                yield piece
                self._wanted.set()
        finally:
            await self.leave()
        await self._task

    async def leave(self) -> None:
        """Nobody listens any more. The turn is dropped and does not count; one that has written ends, and counts.

        Returns when it has ended either way: a cancellation that comes meanwhile is passed on then.
        """
        if not self._task.done():
            self._followed = False
            self._wanted.set()
            live = self._board.live
            if live is not self._before and live.wrote:
                live.hushed = True
            elif not self._task.cancelling():
                # A write that this turn was about to send must not leave behind the back of its cancellation.
                live.dropped = live is not self._before
                self._task.cancel()
        cancelled: asyncio.CancelledError | None = None
        while not self._task.done():
            try:
                await asyncio.wait([self._task])
            except asyncio.CancelledError as error:
                cancelled = error
        failed = None if self._followed or self._task.cancelled() else self._task.exception()
        if failed is not None:
            log.warning("a turn that nobody listened to failed: %s", type(failed).__name__, exc_info=failed)
        if cancelled is not None:
            raise cancelled

"""Turns go first: a supervisor pass waits while some caller's first word hangs on this process.

One event loop serves all calls. A turn needs it for milliseconds, twice: until the model is asked, and from the model's
first words to ours. Passes of other calls fit into the time between; a burst of turns puts them off, but not for ever.
"""

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar

PATIENCE_S = 0.25
"""A pass goes on after this in any case: what it fetches is for turns, too."""


class Traffic:
    """How many turns need the loop at present."""

    def __init__(self) -> None:
        self._n_turns = 0
        self._waiting: asyncio.Future[None] | None = None

    def turn(self) -> "Turn":
        """A turn begins; what is run for it may say `elsewhere`."""
        turn = Turn(self)
        _current.set(turn)
        return turn

    async def quiet(self) -> None:
        """Return as soon as no turn needs the loop, or patience ends."""
        if not self._n_turns:
            return
        if self._waiting is None or self._waiting.done():
            self._waiting = asyncio.get_running_loop().create_future()
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                # Shielded: several passes wait for the same moment.
                await asyncio.shield(self._waiting)

    def _count(self, change: int) -> None:
        self._n_turns += change
        if not self._n_turns and self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


def elsewhere() -> AbstractContextManager[None]:
    """While the turn that runs this waits for a model and does not need the loop."""
    turn = _current.get()
    return nullcontext() if turn is None else turn.elsewhere()


class Turn:
    """One turn's share, from its words to its first word."""

    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic
        self._counted = True
        self._over = False
        traffic._count(1)

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        self._set(False)
        try:
            yield
        finally:
            self._set(not self._over)

    def over(self) -> None:
        """Its first word is out, or it has come to nothing."""
        self._over = True
        self._set(False)

    def _set(self, counted: bool) -> None:
        if counted != self._counted:
            self._counted = counted
            self._traffic._count(1 if counted else -1)


_current: ContextVar[Turn | None] = ContextVar("turn", default=None)

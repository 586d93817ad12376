"""Time as something passed in: a real clock, and an event loop on which a seven-second fetch costs nothing."""

import asyncio
import concurrent.futures
import selectors
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Clock(Protocol):
    """Tells the time in seconds and waits; everything in the core asks a clock, never the system."""

    def now(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class LoopClock:
    """The running event loop's time: real on an ordinary loop, virtual on a `VirtualLoop`.

    One class serves both because asyncio's own sleeps and time-outs follow the loop, so library code
    that knows nothing of us (tenacity, langgraph) keeps the same time as ours.
    """

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))


class _JumpingSelector(selectors.DefaultSelector):
    """Polls instead of waiting, and moves the virtual clock forward by the wait that was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0
        self.outside = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if self.outside or timeout is None:
            # Somebody waits for the real world (a model's socket): wait with it, in short steps.
            began = time.perf_counter()
            ready = super().select(0.05 if timeout is None else min(timeout, 0.05))
            if self.outside:
                self.now_s += time.perf_counter() - began
            return ready
        ready = super().select(0)
        if not ready and timeout > 0:
            self.now_s += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only when every task waits; thread-pool work runs inline, in a fixed order."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)
        # A waiter scheduled for `now` must not be asked for again because of float rounding.
        self._clock_resolution = 1e-9

    def time(self) -> float:
        return self._jumping.now_s

    def run_in_executor(  # type: ignore[override]
        self, executor: concurrent.futures.Executor | None, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - handed to whoever awaits, as an executor would
            future.set_exception(error)
        return future

    @contextmanager
    def outside_world(self) -> Iterator[None]:
        """While open, waiting takes real time and virtual time passes with it: use around awaits on sockets."""
        self._jumping.outside += 1
        try:
            yield
        finally:
            self._jumping.outside -= 1


@contextmanager
def outside_world() -> Iterator[None]:
    """Let real input and output happen although time may be virtual; nothing on an ordinary loop."""
    loop = asyncio.get_running_loop()
    if isinstance(loop, VirtualLoop):
        with loop.outside_world():
            yield
    else:
        yield


def run_virtual(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run to completion on virtual time, from 0 s; the same coroutine gives the same order of events every time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(coroutine)

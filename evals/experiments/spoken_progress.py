"""Progress in lines of text, for runs that nobody watches on a terminal: how far, and how long still."""

import time
from collections.abc import Callable, Sequence

EVERY_S = 30.0


class SpokenProgress:
    """Says a line when an experiment begins and ends, and at most every half minute in between."""

    def __init__(
        self, say: Callable[[str], None], names: Sequence[str], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._say = say
        self._names = list(names)
        self._now = now
        self._began: dict[str, tuple[float, int]] = {}
        self._said_s = 0.0

    def at(self, name: str, done: int, total: int) -> None:
        now_s = self._now()
        first = name not in self._began
        began_s, before = self._began.setdefault(name, (now_s, done))
        if not first and done < total and now_s - self._said_s < EVERY_S:
            return
        self._said_s = now_s
        where = f"{name} ({self._names.index(name) + 1} of {len(self._names)}): {done} of {total}"
        made, took_s = done - before, now_s - began_s
        left = f", about {took_s / made * (total - done) / 60:.1f} min left" if made and done < total else ""
        self._say(where + left)

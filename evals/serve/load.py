"""Callers at the gateway, as a process of its own: each speaks, listens, and speaks again as people do.

Some ask the bare model instead, at the same time on the same machine. One JSON object on the last line of stdout.
"""

import asyncio
import random
import sys
import time
from collections.abc import Callable
from typing import Literal, NamedTuple

import orjson

from evals.callers.timing import LONGEST_S, draw_turn_s
from evals.serve.wire import Connection, read_chunk

LINES = (
    "hello there, it's about my car policy running out",
    "hold on, the letter is somewhere on this desk",
    "well it went up an awful lot since last spring",
    "my neighbour pays less than half of that, you know",
    "right, I see what you mean, go on then",
    "lovely weather for a drive today at least",
)
"""Written for this bench; nothing is tuned on them."""
EVERY_S = 3.0
ALONE_S = 0.4
"""A single caller speaks more often, or there would be too few turns to tell anything."""
BARE_EVERY_S = 1.0
N_BARE = 4

Pace = Literal["people", "every_3s", "at_once"]
"""As recorded callers speak (decision 0187), the same number three to four times as busy, or all in one moment."""


class Task(NamedTuple):
    """What to do, as it comes on the command line."""

    gateway_port: int
    model_port: int
    n_sessions: int
    seconds: float
    pace: Pace
    prefix: str
    ramp_s: float
    """In this time everybody takes the first turn, in which sessions are made; it is not measured."""


class Waits(NamedTuple):
    """Seconds to the first word, and the gateway's turns that a model was asked for."""

    gateway: list[float]
    model: list[float]
    n_asked: int


class _Callers:
    def __init__(self, task: Task) -> None:
        self._task = task
        self._rng = random.Random(task.n_sessions)
        self.waits: list[float] = []
        self.bare: list[float] = []
        self.n_asked = 0
        self._began_s = time.perf_counter()

    def _now_s(self) -> float:
        """Measured time: negative while everybody takes the first turn."""
        return time.perf_counter() - self._began_s - self._task.ramp_s

    async def run(self) -> Waits:
        callers = [self._caller(n) for n in range(self._task.n_sessions)]
        bare = [self._bare(n) for n in range(N_BARE)]
        await asyncio.gather(*callers, *bare)
        return Waits(self.waits, self.bare, self.n_asked)

    def _pause(self) -> Callable[[], float]:
        rng, task = self._rng, self._task
        if task.n_sessions == 1:
            return lambda: ALONE_S
        if task.pace == "people":
            return lambda: draw_turn_s(rng)
        return lambda: EVERY_S * rng.uniform(0.7, 1.3)

    async def _caller(self, n: int) -> None:
        task, pause = self._task, self._pause()
        line = Connection(task.gateway_port)
        name = f"{task.prefix}-{n}"
        await asyncio.sleep(self._rng.random() * (task.ramp_s - 1.0))
        await self._say(line, name, 0)
        due_s = 0.0 if task.pace == "at_once" else self._rest_of(pause)
        turn = 0
        while due_s < task.seconds:
            await asyncio.sleep(max(0.0, due_s - self._now_s()))
            turn += 1
            spoke_s = self._now_s()
            wait_s, asked = await self._say(line, name, turn)
            self.waits.append(wait_s)
            self.n_asked += asked
            if task.pace == "at_once":
                break
            # From the end of speech to the next end of speech, the agent's in between.
            due_s = max(spoke_s + pause(), self._now_s() + (ALONE_S if task.n_sessions == 1 else 0.0))
        await line.aclose()

    def _rest_of(self, pause: Callable[[], float]) -> float:
        """What is left of the pause in which a call is met at some moment: a long one is met more often."""
        while self._rng.random() > (whole_s := pause()) / LONGEST_S:
            pass
        return self._rng.random() * whole_s

    async def _say(self, line: Connection, name: str, turn: int) -> tuple[float, bool]:
        return await first_word(line, "insurance_renewal", LINES[turn % len(LINES)], {"x-session-id": name})

    async def _bare(self, n: int) -> None:
        line = Connection(self._task.model_port)
        await asyncio.sleep(self._task.ramp_s + BARE_EVERY_S * n / N_BARE)
        while self._now_s() < self._task.seconds:
            self.bare.append((await first_word(line, "fake", LINES[n], {}))[0])
            await asyncio.sleep(BARE_EVERY_S * self._rng.uniform(0.7, 1.3))
        await line.aclose()


async def first_word(line: Connection, model: str, words: str, headers: dict[str, str]) -> tuple[float, bool]:
    """Seconds from the request to the first piece with words in it, and whether a model was asked for them."""
    body = orjson.dumps({"model": model, "messages": [{"role": "user", "content": words}], "stream": True})
    began = time.perf_counter()
    answer = await line.post("/v1/chat/completions", body, headers)
    first_s, asked = -1.0, False
    while piece := await read_chunk(answer):
        if first_s < 0.0 and b'"content"' in piece:
            first_s = time.perf_counter() - began
        asked = asked or b'"single_call"' in piece
    if first_s < 0.0:
        raise RuntimeError(f"nothing was said to {words!r}")
    return first_s, asked


if __name__ == "__main__":
    done = asyncio.run(_Callers(Task(*orjson.loads(sys.argv[1]))).run())
    sys.stdout.write(orjson.dumps(done._asdict()).decode() + "\n")

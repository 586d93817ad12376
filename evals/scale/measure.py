"""Times predictions and updates on stores of growing size, turn about, so that a busy moment hits all sizes alike."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cuecard.belief.types import Belief
from cuecard.precedents.counts import StoredCounts
from cuecard.precedents.engine import open_engine
from cuecard.precedents.migrations import migrate
from cuecard.precedents.types import Precedent
from cuecard.precedents.writer import Writer
from cuecard.predictors.counts import HALF_LIFE_SESSIONS
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.graph import Expected
from cuecard.predictors.types import SessionView, TurnView
from evals.scale.fill import NAMES, fill
from evals.scale.world import Calls, World

ROUNDS = 10
PREDICTIONS = 100
UPDATES = 20
"""Of each, per round and size."""
TENANT = "scale"
NEW_CALLS_SEED = 7


async def measure(sizes: list[int], folder: Path, note: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    """p50 and p95 in microseconds, by number of precedents.

    A prediction is the whole of it: three offsets of actions, sources and states from counts, decayed and shrunken,
    every row read from the database (nothing remembered). An update is one turn at the end of a running call, in a
    transaction of its own; the product writes several in one. `cpu` leaves out what a busy machine made it wait.
    """
    world = World()
    benches: list[_Bench] = []
    try:
        for size in sizes:
            note(f"filling {size:,} turns")
            benches.append(_Bench(folder / f"{size}.sqlite", world, size))
        for number in range(ROUNDS):
            note(f"timing, round {number + 1} of {ROUNDS}")
            for bench in benches:
                await bench.round()
        return {str(bench.size): bench.report() for bench in benches}
    finally:
        for bench in benches:
            bench.close()


class _Rules:
    """Says what is due and nothing more: rules cost the same at any size, the counts under what is due do not."""

    def expect(self, view: SessionView, horizon: int) -> Expected:
        return Expected(due=view.turns[-1].due)


class _Bench:
    """One filled store, and new calls that neither it nor any other size has seen; all sizes get the same."""

    def __init__(self, path: Path, world: World, size: int) -> None:
        self.size = size
        self._path = path
        self._engine = open_engine(path)
        migrate(self._engine)
        started_s = time.perf_counter()
        fill(self._engine, TENANT, world, size, HALF_LIFE_SESSIONS)
        self._fill_s = time.perf_counter() - started_s
        counts = StoredCounts(self._engine, TENANT, now=lambda: 0.0, remembered=0, inline=True)
        self._predictor = EmpiricalPredictor(counts, prior=lambda _: _Rules())
        self._writer = Writer(self._engine, HALF_LIFE_SESSIONS, embedder=None)
        calls = world.draw(np.random.default_rng(NEW_CALLS_SEED), 1_000)
        self._views = _views(calls, np.random.default_rng(NEW_CALLS_SEED))
        self._turns = _turns(calls)
        self._predict_us: list[float] = []
        self._predict_cpu_us: list[float] = []
        self._update_us: list[float] = []

    async def round(self) -> None:
        for _ in range(PREDICTIONS):
            view = next(self._views)
            started_s, cpu_s = time.perf_counter(), time.thread_time()
            forecast = await self._predictor.predict(view)
            self._predict_us.append((time.perf_counter() - started_s) * 1e6)
            self._predict_cpu_us.append((time.thread_time() - cpu_s) * 1e6)
            # An empty forecast would be fast for the wrong reason.
            assert abs(sum(forecast.actions[0].values()) - 1.0) < 1e-6
        for _ in range(UPDATES):
            turn = next(self._turns)
            started_s = time.perf_counter()
            self._writer.record([turn])
            self._update_us.append((time.perf_counter() - started_s) * 1e6)

    def report(self) -> dict[str, Any]:
        parts = (self._predict_us, self._predict_cpu_us, self._update_us)
        predict, cpu, update = (np.percentile(part, [50, 95]) for part in parts)
        return {
            "predict_us_p50": round(float(predict[0]), 1),
            "predict_us_p95": round(float(predict[1]), 1),
            "predict_cpu_us_p50": round(float(cpu[0]), 1),
            "predict_cpu_us_p95": round(float(cpu[1]), 1),
            "update_us_p50": round(float(update[0]), 1),
            "update_us_p95": round(float(update[1]), 1),
            "n_predictions": len(self._predict_us),
            "n_updates": len(self._update_us),
            "fill_s": round(self._fill_s, 1),
            "file_mb": round(self._path.stat().st_size / 1e6, 1),
        }

    def close(self) -> None:
        self._engine.dispose()


def _views(calls: Calls, rng: np.random.Generator) -> Iterator[SessionView]:
    """A random moment in each call, over and over."""
    while True:
        for row in range(len(calls.sop)):
            cohort, mood = NAMES["cohort"][calls.cohort[row]], NAMES["mood"][calls.mood[row]]
            turns = tuple(
                TurnView(
                    "",
                    NAMES["state"][state],
                    NAMES["action"][action],
                    "",
                    NAMES["source"][source],
                    due=NAMES["action"][due],
                )
                for state, action, source, due in zip(
                    calls.state[row].tolist(),
                    calls.action[row].tolist(),
                    calls.source[row].tolist(),
                    calls.due[row].tolist(),
                    strict=True,
                )
            )
            belief = Belief(cohort={cohort: 1.0}, mood={f"{cohort}/{mood}": 1.0}, state={turns[0].state: 1.0})
            until = int(rng.integers(1, calls.length[row] + 1))
            yield SessionView(NAMES["sop"][calls.sop[row]], turns[:until], belief, tenant=TENANT)


def _turns(calls: Calls) -> Iterator[Precedent]:
    for row in range(len(calls.sop)):
        for turn in range(int(calls.length[row])):
            yield Precedent(
                tenant=TENANT,
                session=f"new-{row}",
                turn=turn,
                sop=NAMES["sop"][calls.sop[row]],
                action=NAMES["action"][calls.action[row, turn]],
                at=0.0,
                cohort=NAMES["cohort"][calls.cohort[row]],
                mood=NAMES["mood"][calls.mood[row]],
                state=NAMES["state"][calls.state[row, turn]],
                source=NAMES["source"][calls.source[row, turn]],
                due=NAMES["action"][calls.due[row, turn]],
            )

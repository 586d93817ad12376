"""Many calls at once: two processes, each with an engine of its own, and rows as they are finished."""

import multiprocessing
import os
import queue
from collections.abc import Iterator, Sequence
from typing import Any

from cuecard.clock import run_virtual
from cuecard.errors import CuecardError
from evals.calls.bench import AGENDA, ORACLE, OURS, Bench
from evals.calls.measures import Row, rows_of

WORKERS = 2
STALLED_S = 600.0
"""A worker that finishes no call for so long is given up."""


class CallsFailed(CuecardError):
    """A worker process could not play its calls; the message is its error."""


def play_many(
    sop: str,
    seeds: Sequence[int],
    policies: Sequence[str] = (OURS, ORACLE),
    *,
    workers: int = WORKERS,
    price_s: float | None = None,
    caller: str = AGENDA,
) -> Iterator[list[Row]]:
    """The rows of one call after another, in the order in which they are finished. Same seeds, same rows."""
    if workers <= 1 or len(seeds) <= 1:
        yield from run_here(sop, seeds, policies, price_s, caller)
        return
    context = multiprocessing.get_context("spawn")
    results: Any = context.Queue()
    crew = [
        context.Process(
            target=_work, args=(sop, list(seeds[n::workers]), list(policies), price_s, caller, results), daemon=True
        )
        for n in range(min(workers, len(seeds)))
    ]
    for process in crew:
        process.start()
    try:
        for _ in seeds:
            try:
                rows, error = results.get(timeout=STALLED_S)
            except queue.Empty as silence:
                raise CallsFailed(f"{sop}: no call was finished in {STALLED_S:.0f} s") from silence
            if error:
                raise CallsFailed(error)
            yield [Row(**row) for row in rows]
    finally:
        for process in crew:
            process.terminate()
            process.join()


def run_here(
    sop: str, seeds: Sequence[int], policies: Sequence[str], price_s: float | None = None, caller: str = AGENDA
) -> Iterator[list[Row]]:
    """All calls in this process, on one engine; all rows are there when the last call is over."""

    async def all_calls() -> list[list[Row]]:
        async with Bench.open() as bench:
            return [rows_of(await bench.compare(sop, seed, policies, price_s=price_s, caller=caller)) for seed in seeds]

    yield from run_virtual(all_calls())


def _work(sop: str, seeds: list[int], policies: list[str], price_s: float | None, caller: str, results: Any) -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

    async def all_calls() -> None:
        async with Bench.open() as bench:
            for seed in seeds:
                compared = await bench.compare(sop, seed, policies, price_s=price_s, caller=caller)
                results.put(([row.to_json() for row in rows_of(compared)], ""))

    try:
        run_virtual(all_calls())
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent says it and stops
        results.put(([], f"{type(error).__name__}: {error}"))

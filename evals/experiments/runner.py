"""Runs an experiment: the bar is checked, two processes play its units, rows are kept as they come."""

import asyncio
import multiprocessing
import os
import queue
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cuecard.clock import run_virtual
from cuecard.errors import CuecardError
from cuecard.settings import Settings, get_settings
from evals.experiments import registry
from evals.experiments.bars import bar_path, before_run, committed, load_bar, sha256_of
from evals.experiments.fingerprint import fingerprint
from evals.experiments.results import Header, Results, begin, read
from evals.experiments.tools import Tools
from evals.experiments.types import CannotRun, Experiment, Options, Row, Unit

STALLED_S = 900.0
"""A worker that finishes nothing for so long is given up."""

Advance = Callable[[int, int], None]
"""Told (finished units, all units)."""
Keep = Callable[[Unit, list[Row]], None]


class RunFailed(CuecardError):
    """A unit could not be played; the message is its error."""


def run(
    name: str,
    options: Options,
    folder: Path,
    *,
    settings: Settings | None = None,
    advance: Advance = lambda done, total: None,
    say: Callable[[str], None] = lambda text: None,
) -> Results:
    """Play what is not yet recorded in `folder`. CannotRun without model or data, BarError on a moved bar."""
    experiment = registry.load(name)
    settings = settings or get_settings()
    path = bar_path(experiment.name)
    bar = load_bar(path)
    if bar.needs == "model" and not settings.has_model:
        raise CannotRun("not run: no model")
    if bar.needs == "data" and options.data is None:
        raise CannotRun("not run: no data")
    units = experiment.units(options)
    results = _opened(experiment, options, folder, path, settings, say)
    todo = [unit for unit in units if unit["key"] not in results.done]
    advance(len(units) - len(todo), len(units))

    def keep(unit: Unit, rows: list[Row]) -> None:
        results.append(unit["key"], rows, time.time())
        advance(len(results.done & {one["key"] for one in units}), len(units))

    if todo:
        _play(experiment, todo, options, folder.parent / "cache", settings, keep)
    return results


def _opened(
    experiment: Experiment, options: Options, folder: Path, bar: Path, settings: Settings, say: Callable[[str], None]
) -> Results:
    """The results so far if they were made under this bar, by this code, with these options; else a new file."""
    path = folder / "results.jsonl"
    chosen = _plain(options)
    old = read(path)
    if old is not None:
        same = old.header.code == fingerprint() and old.header.options == chosen
        if same:
            say(f"{experiment.name}: going on; {before_run(bar, old.header.bar_sha256, old.header.begun_at)}")
            return old
        say(f"{experiment.name}: the earlier run had other code or options and is replaced")
    history = committed(bar)
    header = Header(
        experiment=experiment.name,
        bar_sha256=sha256_of(bar),
        bar_known_by=history.known_by,
        bar_commit=history.commit,
        bar_committed_at=history.at,
        begun_at=time.time(),
        code=fingerprint(),
        options=chosen,
        model=settings.chat_model if settings.has_model else "",
        load=round(os.getloadavg()[0], 1),
    )
    say(f"{experiment.name}: {before_run(bar, header.bar_sha256, header.begun_at)}")
    return begin(path, header)


def _plain(options: Options) -> dict[str, Any]:
    """As it comes back from JSON; how many processes worked changes no result, and the number of calls may grow."""
    row = asdict(options)
    del row["workers"], row["seeds"], row["quick"]
    return {**row, "procedures": list(options.procedures), "data": options.data.name if options.data else None}


def _play(
    experiment: Experiment, units: list[Unit], options: Options, cache: Path, settings: Settings, keep: Keep
) -> None:
    workers = min(options.workers, len(units)) if experiment.parallel else 1
    if workers <= 1:
        _here(experiment, units, options, cache, settings, keep)
        return
    context = multiprocessing.get_context("spawn")
    results: Any = context.Queue()
    crew = [
        context.Process(
            target=_work, args=(experiment.name, units[n::workers], options, cache, settings, results), daemon=True
        )
        for n in range(workers)
    ]
    for process in crew:
        process.start()
    try:
        for _ in units:
            try:
                unit, rows, error = results.get(timeout=STALLED_S)
            except queue.Empty as silence:
                raise RunFailed(f"{experiment.name}: nothing was finished in {STALLED_S:.0f} s") from silence
            if error:
                raise RunFailed(f"{experiment.name}: {error}")
            keep(unit, rows)
    finally:
        for process in crew:
            process.terminate()
            process.join()


def _here(
    experiment: Experiment, units: list[Unit], options: Options, cache: Path, settings: Settings, keep: Keep
) -> None:
    async def all_units() -> None:
        async with Tools(options, settings, fingerprint(), cache) as tools:
            for unit in units:
                keep(unit, await experiment.play(unit, tools))

    run_virtual(all_units())


def _work(name: str, units: list[Unit], options: Options, cache: Path, settings: Settings, results: Any) -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    experiment = registry.load(name)

    async def all_units() -> None:
        async with Tools(options, settings, fingerprint(), cache) as tools:
            for unit in units:
                results.put((unit, await experiment.play(unit, tools), ""))

    try:
        run_virtual(all_units())
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - whatever it is, the parent says it and stops
        results.put(({}, [], f"{type(error).__name__}: {error}"))

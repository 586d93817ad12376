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
from cuecard.models.chat import describe
from cuecard.settings import Settings, get_settings
from evals.experiments import registry
from evals.experiments.bars import bar_path, before_run, committed, load_bar, sha256_of
from evals.experiments.fingerprint import fingerprint, player_fingerprint
from evals.experiments.results import Header, Results, begin, read
from evals.experiments.tools import Tools
from evals.experiments.types import CannotRun, Experiment, Options, Row, Unit

RESULTS = "results.jsonl"
STALLED_S = 900.0
"""A worker that finishes nothing for so long is given up."""

Advance = Callable[[int, int], None]
"""Told (finished units, all units)."""
Keep = Callable[[Unit, list[Row], str], None]
"""Told what a unit left: rows, or the error that stopped it."""


class RunFailed(CuecardError):
    """Units could not be played; the message holds the first one's error."""


def run(
    name: str,
    options: Options,
    folder: Path,
    *,
    settings: Settings | None = None,
    mark: str = "",
    again: bool = False,
    advance: Advance = lambda done, total: None,
    say: Callable[[str], None] = lambda text: None,
) -> Results:
    """Play what is not yet recorded in `folder`, or with `again` everything.

    CannotRun without model or data, BarError on a moved bar. `mark` says what the chat model is, in every report.
    """
    experiment = registry.load(name)
    settings = settings or get_settings()
    path = bar_path(experiment.name)
    bar = load_bar(path)
    if bar.needs == "model" and not settings.has_model:
        raise CannotRun("not run: no model")
    if bar.needs == "data" and options.data is None:
        raise CannotRun("not run: no data")
    units = experiment.units(options)
    header = _header(experiment, options, path, settings, mark)
    results = None if again else _earlier(header, folder / RESULTS, path, say)
    if results is None:
        say(f"{experiment.name}: {before_run(path, header.bar_sha256, header.begun_at)}")
        results = begin(folder / RESULTS, header)
    todo = [unit for unit in units if unit["key"] not in results.done]
    advance(len(units) - len(todo), len(units))

    wanted = {unit["key"] for unit in units}
    failed: list[str] = []

    def keep(unit: Unit, rows: list[Row], error: str) -> None:
        if error:
            failed.append(f"{unit['key']}: {error}")
            say(f"{experiment.name}: {failed[-1]}")
        else:
            results.append(unit["key"], rows, time.time())
        advance(len(results.done & wanted), len(units))

    if todo:
        _play(experiment, todo, options, folder.parent / "cache", settings, keep)
    if failed:
        raise RunFailed(f"{len(failed)} of {len(units)} units failed, the others are kept; first {failed[0]}")
    return results


def _header(experiment: Experiment, options: Options, bar: Path, settings: Settings, mark: str) -> Header:
    history = committed(bar)
    return Header(
        experiment=experiment.name,
        bar_sha256=sha256_of(bar),
        bar_known_by=history.known_by,
        bar_commit=history.commit,
        bar_committed_at=history.at,
        begun_at=time.time(),
        code=fingerprint(),
        options=_plain(options),
        model=settings.chat_model if settings.has_model else "",
        mark=mark if settings.has_model else "",
        player=player_fingerprint(experiment.name),
        load=round(os.getloadavg()[0], 1),
    )


def _earlier(now: Header, path: Path, bar: Path, say: Callable[[str], None]) -> Results | None:
    """What was recorded so far, if it was made under this bar, by this code, with these options; else None."""
    old = read(path)
    if old is None:
        return None
    kind = [(one.code, one.player, one.options, one.model) for one in (now, old.header)]
    if kind[0] != kind[1]:
        say(f"{now.experiment}: the earlier run had other code, options or model and is replaced")
        return None
    say(f"{now.experiment}: going on; {before_run(bar, old.header.bar_sha256, old.header.begun_at)}")
    return old


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
                raise RunFailed(f"nothing was finished in {STALLED_S:.0f} s") from silence
            if unit is None:
                raise RunFailed(f"a process could not begin: {error}")
            keep(unit, rows, error)
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
                keep(unit, *await _played(experiment, unit, tools))

    run_virtual(all_units())


def _work(name: str, units: list[Unit], options: Options, cache: Path, settings: Settings, results: Any) -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    experiment = registry.load(name)

    async def all_units() -> None:
        async with Tools(options, settings, fingerprint(), cache) as tools:
            for unit in units:
                results.put((unit, *await _played(experiment, unit, tools)))

    try:
        run_virtual(all_units())
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - whatever it is, the parent says it and stops
        results.put((None, [], describe(error)))


async def _played(experiment: Experiment, unit: Unit, tools: Tools) -> tuple[list[Row], str]:
    """The unit's rows, or what stopped it: an hour's run must not be lost to one call."""
    try:
        return await experiment.play(unit, tools), ""
    except Exception as error:  # noqa: BLE001 - whatever it is, it belongs to this unit, and the run says it
        return [], describe(error)

"""Predict the agent's next turns on recorded calls, before the user speaks."""

from pathlib import Path
from typing import Annotated, Literal

import typer


def command(
    train: Annotated[Path, typer.Option(help="Recorded sessions to count (and to split, without --test).")],
    test: Annotated[Path | None, typer.Option(help="Later sessions, kept aside. Without: a fifth of --train.")] = None,
    sops: Annotated[Path | None, typer.Option(help="Drawn procedures (star_sops.json).")] = None,
    model: Annotated[Path | None, typer.Option(help="A model of `cuecard train`.")] = None,
    split: Annotated[
        Literal["random", "time"], typer.Option(help="Which fifth is held out without --test; the other one is added.")
    ] = "random",
    seed: Annotated[int, typer.Option(help="Of the random fifth.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")] = False,
) -> None:
    """Top-1, top-3, log loss and calibration at +1, +2 and +3, beside the simplest counts.

    `source_hit1/2/3` inside an offset: the right data source among the first one, two, three; at the top level: first
    at +1, +2, +3. A model that has seen the held-out sessions is never scored on them: one is trained for the split
    (minutes; `cuecard train --hold-out random` makes it beforehand), and the second split goes without a model.
    """
    from cuecard.cli.output import console, print_json, progress, stderr
    from evals.real.bench_predict import run_bench
    from evals.real.bench_table import table

    with progress() as bar:
        result = run_bench(train, test, sops, model, split, seed, bar, lambda line: stderr.print(line))
    if as_json:
        print_json(result)
    else:
        console.print(table(result))

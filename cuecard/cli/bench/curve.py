"""How good the predictors are after 0, 5, 20, ... sessions."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    train: Annotated[Path, typer.Option(help="Recorded sessions; a random fifth of them tests.")],
    sops: Annotated[Path | None, typer.Option(help="Drawn procedures (star_sops.json).")] = None,
    subsets: Annotated[int, typer.Option(min=1, help="Random subsets per size.")] = 5,
    test_sessions: Annotated[int, typer.Option(min=10, help="Test sessions drawn from the held-out fifth.")] = 250,
    learn: Annotated[
        bool, typer.Option(help="Also train a model on each subset of 93 sessions or more (slow).")
    ] = False,
    plot: Annotated[Path | None, typer.Option(help="Where the picture goes.")] = Path("curve.png"),
    seed: Annotated[int, typer.Option()] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")] = False,
) -> None:
    """Top-1 and top-3 at +1 for exact keys, shrinkage, the graph, both, and the mixture; Thompson sampling on and off.

    Subsets are kept beside the picture until all are done: a run that was cut off goes on where it stopped.
    Without --learn the mixture is graph and counts: what the product runs before anybody trains a model.
    """
    from rich.table import Table

    from cuecard.cli.output import console, print_json, progress, stderr
    from evals.real.bench_curve import run_curve
    from evals.real.curve import NAMES, CurvePlan

    with progress() as bar:
        plan = CurvePlan(n_subsets=subsets, seed=seed)
        result = run_curve(train, sops, plan, test_sessions, learn, plot, bar, lambda line: stderr.print(line))
    if as_json:
        print_json(result)
        return
    table = Table("sessions", *NAMES, title=f"top-1/top-3 at +1, % ({result['who']}, n_test={result['n_test']})")
    for size, row in result.items():
        if size.isdigit():
            table.add_row(size, *(f"{row[n]['top1']:.1f}/{row[n]['top3']:.1f}" if n in row else "-" for n in NAMES))
    console.print(table)

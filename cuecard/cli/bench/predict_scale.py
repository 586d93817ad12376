"""Does a prediction cost the same after ten million turns as after a thousand?"""

import asyncio
from typing import Annotated

import typer

from cuecard.cli.output import console, print_json, stderr


def command(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
    max: Annotated[float, typer.Option(help="Largest number of precedents, for example 1e6.")] = 1e7,
) -> None:
    """Fill SQLite stores of 10^3, 10^4, ... simulated turns in a temporary folder and time predictions and updates.

    Needs 600 MB of disk while it runs, and some minutes; --max 1e6 takes a sixth of either.
    """
    import tempfile
    from pathlib import Path

    from evals.scale.measure import measure

    sizes = [10**power for power in range(3, 10) if 10**power <= max]
    if not sizes:
        raise typer.BadParameter("--max must be at least 1000.")
    with tempfile.TemporaryDirectory(prefix="cuecard-scale-") as folder, stderr.status("starting") as status:
        report = asyncio.run(measure(sizes, Path(folder), status.update))
    if json:
        print_json(report)
        return
    for size, row in report.items():
        console.print(
            f"{int(size):>12,} turns: predict p50 {row['predict_us_p50']:.0f} us, p95 {row['predict_us_p95']:.0f} us; "
            f"update p95 {row['update_us_p95']:.0f} us"
        )
    first, last = report[str(sizes[0])], report[str(sizes[-1])]
    console.print(f"p95 at the largest / at the smallest: {last['predict_us_p95'] / first['predict_us_p95']:.2f}")

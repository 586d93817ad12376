"""From final words to first word out, on the wall clock, beside the floor."""

import asyncio
from typing import Annotated

import typer


def command(
    turns: Annotated[int, typer.Option(min=10, help="Measured turns.")] = 200,
    partials: Annotated[bool, typer.Option("--partials", help="Hear the words in pieces first.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")] = False,
) -> None:
    """Measure the responder's overhead with SQLite persistence, 20 turns of history and a supervisor beside it.

    The floor is the same graph with empty nodes on the same persistence; compare ratios, since machines are noisy.
    """
    from cuecard.cli.output import console, print_json, progress
    from evals.hotpath import measure

    with progress() as bar:
        task = bar.add_task("turns", total=turns)
        figures = asyncio.run(measure(turns, partials=partials, on_turn=lambda: bar.advance(task)))
    if json:
        print_json(figures)
        return
    console.print(
        f"first word after {figures['overhead_ms_p50']} ms (p95 {figures['overhead_ms_p95']}), of which the embedding "
        f"{figures['embed_ms_p50']} ms; an empty graph takes {figures['floor_ms_p50']} ms (n={figures['n']})"
    )

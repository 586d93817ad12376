"""A slow tool on the wall clock: first word when it was predicted, and when it was not."""

from typing import Annotated

import typer

from cuecard.cli.output import console, print_json


def command(
    calls: Annotated[int, typer.Option(help="Calls of each kind.")] = 5,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Time the turn that needs a 3.86 s tool and a 0.25 s model, in real time, with and without working ahead."""
    import asyncio

    from evals.toolturn.measure import measure

    report = asyncio.run(measure(calls))
    if json:
        print_json(report)
        return
    for kind in ("predicted", "mispredicted"):
        row = report[kind]
        console.print(
            f"{kind:13} first word {row['first_word_s_p50']:.2f} s (worst {row['first_word_s_max']:.2f}), "
            f"first sound {row['first_sound_s_p50']:.2f} s, {row['ready']} of {calls} ready"
        )

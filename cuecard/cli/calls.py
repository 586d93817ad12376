"""Play many simulated calls and report success, waiting hidden and waste, with intervals."""

from typing import Annotated

import typer


def command(
    procedure: Annotated[str, typer.Argument(help="A shipped procedure's name, or a YAML file.")] = "insurance_renewal",
    n: Annotated[int, typer.Option("--n", min=1, help="How many calls.")] = 20,
    seed_base: Annotated[int, typer.Option(help="Seed of the first; the others follow.")] = 0,
    processes: Annotated[int, typer.Option(min=1, max=16, help="Processes, each with an engine of its own.")] = 2,
    price: Annotated[float | None, typer.Option(min=0.0, help="Price of a fetch in seconds of stall.")] = None,
    caller: Annotated[str, typer.Option(help="agenda, or model: the same agenda in a chat model's words.")] = "agenda",
    json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")] = False,
) -> None:
    """Play `n` simulated calls, each with nothing fetched early, with ours and with an oracle, and sum up.

    Every rate comes with n and a 95 % interval. Simulated callers, virtual time.
    """
    from cuecard.cli.output import console, print_json, progress
    from evals.calls.many import play_many
    from evals.calls.measures import Row, summary
    from sops import load_procedure

    load_procedure(procedure)
    rows: list[Row] = []
    with progress() as bar:
        task = bar.add_task(f"calls to {procedure}", total=n)
        for finished in play_many(
            procedure, range(seed_base, seed_base + n), workers=processes, price_s=price, caller=caller
        ):
            rows += finished
            bar.advance(task)
    figures = summary(rows)
    if json:
        print_json({"sop": procedure, "seed_base": seed_base} | figures)
        return
    from cuecard.cli._show import show_summary

    show_summary(console, procedure, figures)

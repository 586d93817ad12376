"""Time to first word through the gateway with many calls at once, beside the bare model."""

from typing import Annotated

import typer


def command(
    quick: Annotated[bool, typer.Option("--quick", help="1 and 100 sessions, a few seconds each.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")] = False,
) -> None:
    """Measure time to first word through `cuecard serve`, on SQLite and on PostgreSQL, with a model that takes 200 ms.

    Gateway, model and callers are processes of this machine and share its cores; the bare model is asked meanwhile.
    """
    from cuecard.cli.output import console, print_json, stderr
    from evals.serve.run import measure

    with stderr.status("starting ...") as status:
        figures = measure(quick=quick, on_step=status.update)
    if json:
        print_json(figures)
        return
    for storage, rows in figures.items():
        if isinstance(rows, str):
            console.print(f"{storage}: not measured. {rows}")
            continue
        for n, row in rows.items():
            console.print(
                f"{storage}, {n} sessions: first word after {row['ttfw_ms_p50']} ms (p95 {row['ttfw_ms_p95']}),"
                f" the bare model {row['model_ms_p50']} ms (n={row['n']})"
            )

"""After how many calls counting overtakes the drawn graph and the tree search."""

from typing import Annotated

import typer


def command(
    procedure: Annotated[str, typer.Argument(help="A shipped procedure's name, or a YAML file.")] = "insurance_renewal",
    test: Annotated[int, typer.Option(min=1, help="Simulated calls that are scored.")] = 30,
    json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")] = False,
) -> None:
    """Report where the crossover lies, on simulated calls of this procedure."""
    from cuecard.cli.output import console, print_json, stderr
    from evals.predictors import handoff

    with stderr.status("...") as status:
        figures = handoff(procedure, n_test=test, on_step=lambda step: status.update(step))
    if json:
        print_json(figures)
        return
    console.print(f"{figures['sop']} (simulated, {test} calls scored), next action in first place:")
    console.print(f"  drawn graph {figures['graph']['top1']} %, tree search {figures['mcts']['top1']} %")
    for size, row in figures["by_sessions"].items():
        console.print(
            f"  {size:>4} calls: counts {row['counts']['top1']} %, on the graph {row['counts_on_graph']['top1']} %, "
            f"with the search while they are few {row['mixture']['top1']} %"
        )
    for name, worst in figures["worst_behind"].items():
        low, high = worst["ci95"]
        console.print(
            f"  {name} is at most {worst['points']} points ({low} to {high}) behind its best part "
            f"({worst['part']}, {worst['sessions']} calls)"
        )
    for name, size in figures["crossover_sessions"].items():
        console.print(f"  {name} overtakes after {size if size is not None else 'more than the calls played'} calls")

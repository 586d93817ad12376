"""Predict the caller's next state: stable turns and transitions apart."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    data: Annotated[Path, typer.Option(help="Sessions with states and their own split (multidogo.jsonl.gz).")],
    test: Annotated[
        Path | None, typer.Option(help="A test part kept aside; without it the set's own test or dev.")
    ] = None,
    learn: Annotated[bool, typer.Option(help="Train a model too (minutes; needs the `train` extra).")] = True,
    embed: Annotated[bool, typer.Option(help="Give the model sentence embeddings beside the words (slower).")] = False,
    members: Annotated[int, typer.Option(min=1, help="Networks in the ensemble.")] = 5,
    seed: Annotated[int, typer.Option()] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")] = False,
) -> None:
    """Next caller state before the caller speaks: accuracy on stable turns and on transitions, recall, AUC(change)."""
    import tempfile

    from rich.table import Table

    from cuecard.cli.output import console, print_json, progress, stderr
    from evals.real.bench_state import run_states

    with progress() as bar, tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "states.onnx" if learn else None
        result = run_states(data, test, model, embed, members, seed, bar, lambda line: stderr.print(line))
    if as_json:
        print_json(result)
        return
    fields = ("stable", "transition", "transition_recall", "auc_change", "top1", "top3", "n")
    table = Table("predictor", *fields, title=f"Next caller state ({result['split']}; {result['who']})")
    for name in ("inertia", "counts", "learned", "mixture"):
        if name in result:
            table.add_row(name, *(str(result[name][field]) for field in fields))
    console.print(table)

"""Train the learned predictor on recorded calls."""

from pathlib import Path
from typing import Annotated, Literal

import typer


def command(
    data: Annotated[Path, typer.Option(help="Recorded sessions, JSONL or JSONL.gz (docs/guides/your-logs.md).")],
    out: Annotated[Path, typer.Option(help="Where the model goes. An old one there stays if later calls prefer it.")],
    sops: Annotated[
        Path | None, typer.Option(help="Drawn procedures (star_sops.json), the prior of the mixture.")
    ] = None,
    hold_out: Annotated[
        Literal["none", "random", "time"], typer.Option(help="Leave out the fifth that `bench predict` would test on.")
    ] = "none",
    seed: Annotated[int, typer.Option(help="Of weights, dropout and the random fifth.")] = 0,
    members: Annotated[int, typer.Option(min=1, help="Networks in the ensemble.")] = 6,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the data per network.")] = 12,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")] = False,
) -> None:
    """Train on recorded calls, in minutes on one core, and write one ONNX file.

    Needs the `train` extra; running the model does not. If OUT holds a model already, a candidate trained without the
    latest tenth of the calls must beat it there before anything is replaced.
    """
    from cuecard.cli.output import console, print_json, progress, stderr
    from cuecard.predictors.training.extra import require_training
    from cuecard.predictors.training.fit import Plan
    from evals.real.files import load_drawings, load_sessions, workshop
    from evals.real.splits import at_random, by_time, in_time_order
    from evals.real.training import train_file

    require_training()
    sessions = in_time_order(load_sessions(data, lambda line: stderr.print(line)))
    if hold_out == "random":
        sessions = at_random(sessions, seed).train
    elif hold_out == "time":
        sessions = by_time(sessions).train
    with progress() as bar:
        shop = workshop(load_drawings(sops), Plan(n_members=members, n_epochs=epochs), seed, bar)
        outcome = train_file(sessions, out, shop)
    if as_json:
        print_json(
            {
                "train_s": outcome.train_s,
                "n_sessions": outcome.n_sessions,
                "took_over": outcome.took_over,
                "old_log_loss": outcome.old_log_loss,
                "new_log_loss": outcome.new_log_loss,
                "model": str(out),
                "bytes": out.stat().st_size,
            }
        )
        return
    done = f"{outcome.n_sessions} sessions in {outcome.train_s:.0f} s"
    if outcome.took_over:
        console.print(f"{out}: trained on {done}.")
    else:
        losses = f"{outcome.old_log_loss} against {outcome.new_log_loss}"
        console.print(f"{out}: kept the old model, which later calls prefer (log loss {losses}; {done}).")

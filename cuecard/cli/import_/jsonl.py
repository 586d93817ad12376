"""Import recorded sessions, one JSON object a line."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer


def command(
    file: Annotated[Path, typer.Argument(help="Sessions, JSONL or JSONL.gz (docs/guides/your-logs.md).")],
    sops: Annotated[Path | None, typer.Option(help="Drawn procedures (star_sops.json): drafts are written.")] = None,
    tenant: Annotated[str, typer.Option(help="Whose precedents they become.")] = "default",
    embed: Annotated[bool, typer.Option(help="Embed words, so that similar turns are found by them (minutes).")] = True,
    drafts: Annotated[
        Path | None, typer.Option(help="Folder for drafts; default: procedures/ in the data folder.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")] = False,
) -> None:
    """Load sessions into the precedent store, once each; bad lines are named by number and skipped.

    Stores where CUECARD_DATABASE_URL or CUECARD_DATA_DIR point. Retention runs from the import.
    """
    from cuecard.cli.output import console, print_json, progress, stderr
    from evals.real.drawings import read_drawings
    from evals.real.import_run import run_import
    from evals.real.sessions import read_sessions

    drawings = read_drawings(sops) if sops is not None else {}
    with progress() as bar:
        loaded = read_sessions(file)
        result = asyncio.run(
            run_import(loaded, drawings, tenant, embed, drafts, bar, lambda line: stderr.print(f"{file}: {line}"))
        )
    if as_json:
        print_json(result)
    else:
        counts = f"{result['n_sessions']} sessions, {result['n_turns']} turns, {result['n_skipped']} lines skipped"
        console.print(f"{counts}; {len(result['procedures'])} procedures drafted.")

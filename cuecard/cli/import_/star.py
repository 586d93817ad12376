"""Import a checkout of RasaHQ/STAR in its original layout."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer


def command(
    path: Annotated[Path, typer.Argument(help="The checkout: a folder with dialogues/ and tasks/.")],
    tenant: Annotated[str, typer.Option(help="Whose precedents they become.")] = "default",
    embed: Annotated[bool, typer.Option(help="Embed words, so that similar turns are found by them (minutes).")] = True,
    drafts: Annotated[
        Path | None, typer.Option(help="Folder for drafts; default: procedures/ in the data folder.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")] = False,
) -> None:
    """Load STAR's dialogues into the precedent store and draft its procedures. Bad files are named and skipped."""
    from cuecard.cli.output import console, print_json, progress, stderr
    from evals.real.drawings import drawn_from
    from evals.real.import_run import run_import
    from evals.real.star_layout import read_star, read_star_drawings

    drawings = drawn_from(read_star_drawings(path), path)
    with progress() as bar:
        loaded = read_star(path)
        result = asyncio.run(
            run_import(loaded, drawings, tenant, embed, drafts, bar, lambda line: stderr.print(f"{path}: {line}"))
        )
    if as_json:
        print_json(result)
    else:
        counts = f"{result['n_sessions']} sessions, {result['n_turns']} turns, {result['n_skipped']} files skipped"
        console.print(f"{counts}; {len(result['procedures'])} procedures drafted.")

"""What every import does once its file is read: store, draft, report."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:  # heavy, and the help text needs none of it
    from cuecard.predictors.drawn import DrawnGraph
    from evals.real.sessions import Loaded

Tenant = Annotated[str, typer.Option(help="Whose precedents they become.")]
Embed = Annotated[bool, typer.Option(help="Embed words, so that similar turns are found by them (minutes).")]
Drafts = Annotated[Path | None, typer.Option(help="Folder for drafts; default: procedures/ in the data folder.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")]


@dataclass(frozen=True, slots=True)
class Source:
    """Where sessions come from: `read` is called while a progress bar shows; `pieces` names what a bad one is."""

    path: Path
    read: "Callable[[Path], Loaded]"
    drawings: "dict[str, DrawnGraph]"
    pieces: str


def load(source: Source, tenant: str, embed: bool, drafts: Path | None, as_json: bool) -> None:
    """Import what can be read and print the figures; what cannot be read is named on stderr."""
    from cuecard.cli.output import console, print_json, progress, stderr
    from evals.real.import_run import run_import

    def say(line: str) -> None:
        stderr.print(f"{source.path}: {line}")

    with progress() as bar:
        loaded = source.read(source.path)
        result = asyncio.run(run_import(loaded, source.drawings, tenant, embed, drafts, bar, say))
    if as_json:
        print_json(result)
        return
    n_known = result["n_known"]
    n_new = result["n_sessions"] - n_known
    sessions = f"{result['n_sessions']} sessions ({n_new} new, {n_known} known already), {result['n_turns']} turns"
    counts = f"{sessions}, {result['n_skipped']} {source.pieces} skipped"
    console.print(f"{counts}; {len(result['procedures'])} procedures drafted.")

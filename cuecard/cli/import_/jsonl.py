"""Import recorded sessions, one JSON object a line."""

from pathlib import Path
from typing import Annotated

import typer

from cuecard.cli.import_._load import AsJson, Drafts, Embed, Source, Tenant, load


def command(
    file: Annotated[Path, typer.Argument(help="Sessions, JSONL or JSONL.gz (docs/guides/your-logs.md).")],
    sops: Annotated[Path | None, typer.Option(help="Drawn procedures (star_sops.json): drafts are written.")] = None,
    tenant: Tenant = "default",
    embed: Embed = True,
    drafts: Drafts = None,
    as_json: AsJson = False,
) -> None:
    """Load sessions into the precedent store, once each; bad lines are named by number and skipped.

    Stores where CUECARD_DATABASE_URL or CUECARD_DATA_DIR point. Retention runs from the import.
    """
    from evals.real.drawings import read_drawings
    from evals.real.sessions import read_sessions

    drawings = read_drawings(sops) if sops is not None else {}
    load(Source(file, read_sessions, drawings, "lines"), tenant, embed, drafts, as_json)

"""Import a checkout of RasaHQ/STAR in its original layout."""

from pathlib import Path
from typing import Annotated

import typer

from cuecard.cli.import_._load import AsJson, Drafts, Embed, Source, Tenant, load


def command(
    path: Annotated[Path, typer.Argument(help="The checkout: a folder with dialogues/ and tasks/.")],
    tenant: Tenant = "default",
    embed: Embed = True,
    drafts: Drafts = None,
    as_json: AsJson = False,
) -> None:
    """Load STAR's dialogues into the precedent store and draft its procedures. Bad files are named and skipped."""
    from evals.real.drawings import drawn_from
    from evals.real.star_layout import read_star, read_star_drawings

    drawings = drawn_from(read_star_drawings(path), path)
    load(Source(path, read_star, drawings, "files"), tenant, embed, drafts, as_json)

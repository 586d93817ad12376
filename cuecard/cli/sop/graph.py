"""Print a procedure as a Mermaid diagram."""

import sys
from typing import Annotated

import typer


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A YAML file, or the name of a shipped procedure.")],
) -> None:
    """Print a procedure as a Mermaid diagram: steps, what leads where, and what each step fetches."""
    from cuecard.errors import ProcedureError
    from sops.graph import mermaid
    from sops.loader import ProcedureInvalid, ProcedureNotFound, load_procedure

    try:
        procedure = load_procedure(file)
    except (ProcedureInvalid, ProcedureNotFound) as error:
        raise ProcedureError(str(error)) from error
    sys.stdout.write(mermaid(procedure) + "\n")

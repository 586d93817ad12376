"""Write a small procedure to start your own from."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    name: Annotated[str, typer.Argument(help="Its name: lower-case letters, digits and underscores.")],
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path(),
) -> None:
    """Write a small commented procedure, its table data and documents; it can be called at once."""
    from cuecard.cli.output import console
    from cuecard.errors import ProcedureError
    from sops.loader import names
    from sops.starter import StarterRefused, write_starter

    if name in names():
        raise ProcedureError(
            f"{name} comes with the product, and commands take that name for it. Choose another, such as my_{name}."
        )
    try:
        written = write_starter(name, out)
    except StarterRefused as error:
        raise ProcedureError(str(error)) from error
    for path in written:
        console.print(f"wrote {path}", markup=False, soft_wrap=True)
    shown = written[0] if written[0].is_absolute() else f"./{written[0]}"
    console.print(f"\nHave the call:  cuecard chat {shown}", markup=False, soft_wrap=True)
    console.print(f"Check it:       cuecard sop check {shown}", markup=False, soft_wrap=True)

"""Check this installation: versions, weights, data folder, database, model endpoint, LangGraph settings."""

import asyncio
import sys
from typing import Annotated

import typer


def command(json: Annotated[bool, typer.Option("--json", help="One JSON object as the last line.")] = False) -> None:
    """Check what Cuecard needs and say what to do about what is missing.

    Exits with 1 when something is broken; what is merely absent (no model, no database) is told and fine.
    """
    from rich.table import Table

    from cuecard.cli.output import console, print_json
    from cuecard.doctor import examine
    from cuecard.settings import get_settings

    findings = asyncio.run(examine(get_settings()))
    broken = [finding for finding in findings if finding.status == "broken"]
    if json:
        print_json({"ok": not broken, "findings": [finding._asdict() for finding in findings]})
    else:
        table = Table(box=None, padding=(0, 2), show_header=False)
        colour = {"ok": "green", "note": "yellow", "broken": "red"}
        for finding in findings:
            mark = f"[{colour[finding.status]}]{finding.status}[/]"
            table.add_row(mark, finding.what, finding.found + (f"\n→ {finding.remedy}" if finding.remedy else ""))
        console.print(table)
    if broken:
        sys.exit(1)

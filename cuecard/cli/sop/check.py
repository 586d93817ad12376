"""Say what is wrong with a procedure, where, and how to mend it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sops.checks import Finding


def command(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="YAML files, or names of shipped procedures.")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Say what is wrong with procedures, where, and how to mend it. Exit code 1 when there is an error."""
    from cuecard.cli.output import console, print_json

    found = [finding for name in files for finding in _findings(name)]
    errors = sum(finding.level == "error" for finding in found)
    for finding in found:
        console.print(f"{finding.file}:{finding.line}: ", end="", markup=False, soft_wrap=True)
        console.print(finding.level, style="red" if finding.level == "error" else "yellow", end="")
        console.print(f": {finding.message} {finding.remedy}", markup=False, soft_wrap=True)
    warnings = len(found) - errors
    console.print(f"{len(files)} checked, {errors} errors, {warnings} warnings.")
    if json:
        rows = [finding._asdict() for finding in found]
        print_json({"files": len(files), "errors": errors, "warnings": warnings, "findings": rows})
    if errors:
        raise typer.Exit(1)


def _findings(name: str) -> "list[Finding]":
    from sops.checks import Finding, check_file
    from sops.loader import ProcedureNotFound, find

    try:
        path = find(name)
    except ProcedureNotFound as error:
        return [Finding(name, 1, "error", "There is no such procedure.", str(error))]
    return [*check_file(path), *_corpus_findings(path)]


def _corpus_findings(path: Path) -> "list[Finding]":
    """Corpora that can't be opened; looked for here because procedures know nothing of how corpora are read."""
    from corpus.documents import CorpusInvalid, CorpusNotFound
    from corpus.loader import load_corpus
    from sops.checks import Finding
    from sops.loader import ProcedureInvalid, load_procedure
    from sops.models import RagFetch

    try:
        procedure = load_procedure(path)
    except ProcedureInvalid:
        return []  # Said already, with its line.
    lines = path.read_text(encoding="utf-8").splitlines()
    found = []
    for corpus in sorted({d.fetch.corpus for d in procedure.dependencies.values() if isinstance(d.fetch, RagFetch)}):
        try:
            load_corpus(corpus)
        except (CorpusInvalid, CorpusNotFound) as error:
            named = (number for number, line in enumerate(lines, 1) if "corpus:" in line and Path(corpus).name in line)
            found.append(Finding(str(path), next(named, 1), "error", "A corpus can't be used.", str(error)))
    return found

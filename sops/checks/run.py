"""Runs every check on one file."""

from pathlib import Path

import yaml
from pydantic import ValidationError

from sops import plain_yaml
from sops.checks.back_office import check_back_office
from sops.checks.findings import Finding, Findings, Lines
from sops.checks.flow import check_flow
from sops.checks.names import check_names
from sops.checks.numbers import check_numbers
from sops.checks.safety import check_safety
from sops.checks.shape import report_shape
from sops.checks.words import check_words
from sops.models import Procedure
from sops.more_examples import check_examples, examples_path
from sops.tables import Tables, TablesInvalid, load_tables


def check_file(path: Path) -> list[Finding]:
    """Everything wrong with this procedure and the tables beside it, by line; [] when it is sound."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return [Finding(str(path), 1, "error", f"It can't be read: {error}.", "Give the path of a UTF-8 YAML file.")]
    try:
        tables = load_tables(path)
    except TablesInvalid as error:
        return [Finding(str(path), 1, "error", "The tables beside it can't be read.", str(error))]
    return [*check_text(text, str(path), tables), *_beside(path, text)]


def _beside(path: Path, text: str) -> list[Finding]:
    """What is wrong with the file of further examples, once the procedure itself can be read."""
    more = examples_path(path)
    if more is None:
        return []
    try:
        procedure = Procedure.model_validate(plain_yaml.load(text))
        return list(check_examples(procedure, more.read_text(encoding="utf-8"), str(more)))
    except (yaml.YAMLError, ValidationError):
        return []
    except (OSError, UnicodeDecodeError) as error:
        return [Finding(str(more), 1, "error", f"It can't be read: {error}.", "Make it a UTF-8 text file.")]


def check_text(text: str, where: str, tables: Tables | None = None) -> list[Finding]:
    """Everything wrong with a procedure given as text. `where` names it in findings."""
    try:
        lines = Lines(plain_yaml.compose(text))
        data = plain_yaml.load(text)
    except yaml.MarkedYAMLError as error:
        return [_broken(error, where)]
    except yaml.YAMLError as error:
        return [Finding(where, 1, "error", f"This is not valid YAML: {error}.", "Remove what is no plain text.")]
    found = Findings(where, lines)
    for place in lines.duplicates:
        spoken = ".".join(str(part) for part in place)
        found.error(place, f"{spoken}: it stands twice, and only the second counts.", "Keep one of them.")
    try:
        procedure = Procedure.model_validate(data)
    except ValidationError as error:
        report_shape(error.errors(), found)
        return list(found)
    check_names(procedure, found)
    check_numbers(procedure, found)
    check_flow(procedure, found)
    check_safety(procedure, found)
    check_words(procedure, tables or {}, found)
    check_back_office(procedure, tables or {}, found)
    return list(found)


def _broken(error: yaml.MarkedYAMLError, where: str) -> Finding:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else 1
    context = f" ({error.context}, line {error.context_mark.line + 1})" if error.context_mark and error.context else ""
    remedy = "Mend the indentation or the quotes here or on the line above; texts with `: ` or `#` need quotes."
    return Finding(where, line, "error", f"This is not valid YAML: {error.problem}{context}.", remedy)

"""Finds and reads procedures. What is wrong with one is said with its file, line and remedy."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from sops import plain_yaml
from sops.checks import check_text
from sops.models import Procedure, RagFetch
from sops.more_examples import check_examples, examples_path, with_examples

FOLDER = Path(__file__).parent


class ProcedureNotFound(LookupError):
    """No such procedure; the message lists those there are."""


class ProcedureInvalid(ValueError):
    """The file cannot be read as a procedure; the message says where and how to mend it."""


def names() -> list[str]:
    """Procedures that come with the product."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def find(name_or_path: str | Path) -> Path:
    """A path as given, or the shipped procedure of that name."""
    path = Path(name_or_path)
    if path.suffix in {".yaml", ".yml"}:
        if path.is_file():
            return path
        raise ProcedureNotFound(f"{path}: no such file. Start one with `cuecard sop new NAME`.")
    shipped = FOLDER / f"{name_or_path}.yaml"
    if shipped.is_file() and shipped.parent == FOLDER:
        return shipped
    beside = path.with_name(f"{path.name}.yaml")
    if path.name and beside.is_file():
        given = beside if beside.is_absolute() else f"./{beside}"
        raise ProcedureNotFound(f"No procedure {str(name_or_path)!r}, but such a file lies here: say {given}.")
    raise ProcedureNotFound(
        f"No procedure {str(name_or_path)!r}. There are {', '.join(names())}; or give the path of a YAML file."
    )


def load_procedure(name_or_path: str | Path) -> Procedure:
    """The validated procedure; raises ProcedureNotFound or ProcedureInvalid."""
    path = find(name_or_path)
    more = examples_path(path)
    return _load(path, path.stat().st_mtime_ns, more, more.stat().st_mtime_ns if more is not None else 0)


@lru_cache(maxsize=64)
def _load(path: Path, _mtime_ns: int, more: Path | None, _more_mtime_ns: int) -> Procedure:
    """Cached by modification times, so that a changed file is read again and a turn never parses YAML."""
    procedure = parse(_text(path), str(path))
    if more is not None:
        text = _text(more)
        if findings := list(check_examples(procedure, text, str(more))):
            raise ProcedureInvalid("\n".join(str(finding) for finding in findings))
        procedure = with_examples(procedure, text)
    return _with_corpora_beside(procedure, path.parent)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProcedureInvalid(f"{path}: it can't be read: {error}. Make it a readable UTF-8 text file.") from error


def _with_corpora_beside(procedure: Procedure, folder: Path) -> Procedure:
    """A corpus given as a path is seen from the procedure's file, wherever the process was started."""
    dependencies = dict(procedure.dependencies)
    for name, dependency in dependencies.items():
        fetch = dependency.fetch
        if isinstance(fetch, RagFetch) and not fetch.corpus.isidentifier():
            beside = str((folder / fetch.corpus).resolve())
            dependencies[name] = dependency.model_copy(update={"fetch": fetch.model_copy(update={"corpus": beside})})
    return procedure.model_copy(update={"dependencies": dependencies})


def parse(text: str, where: str) -> Procedure:
    """A procedure from YAML text; `where` names it in messages."""
    data = read_yaml(text, where)
    try:
        return Procedure.model_validate(data)
    except ValidationError as error:
        raise ProcedureInvalid("\n".join(str(finding) for finding in check_text(text, where))) from error


def read_yaml(text: str, where: str) -> Any:
    """The parsed document; a syntax error names its line and column."""
    try:
        return plain_yaml.load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        at = f"{where}:{mark.line + 1}:{mark.column + 1}" if mark else where
        raise ProcedureInvalid(
            f"{at}: not valid YAML: {error.problem}. Mend this line's indentation or quotes."
        ) from error

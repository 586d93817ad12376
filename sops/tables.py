"""The simulated back office of a procedure: tables of rows, read from the YAML beside it."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from sops import plain_yaml

Row = dict[str, Any]
Tables = dict[str, dict[str, Row]]
"""Table to key to row. A table that is one record has the single key ""."""


class TablesInvalid(ValueError):
    """The table file can't be used; the message says where and how to mend it."""


def tables_path(procedure_path: str | Path) -> Path | None:
    """`data/<name>.yaml` or `<name>.data.yaml` beside the procedure's file; None when there is neither."""
    path = Path(procedure_path)
    candidates = (path.parent / "data" / f"{path.stem}.yaml", path.with_name(f"{path.stem}.data.yaml"))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def load_tables(procedure_path: str | Path) -> Tables:
    """Every table of the procedure in this file; {} when it has none. Raises TablesInvalid.

    Cached by modification time; treat what is returned as read-only.
    """
    found = tables_path(procedure_path)
    return {} if found is None else _load(found, found.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _load(path: Path, _mtime_ns: int) -> Tables:
    try:
        data = plain_yaml.load(path.read_text(encoding="utf-8"))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise TablesInvalid(f"{path}:{line}: not valid YAML: {error.problem}. Mend this line.") from error
    if not isinstance(data, dict):
        raise TablesInvalid(f"{path}: is no mapping of tables. Write `table_name:` and its rows below it.")
    return {str(name): _rows(path, str(name), table) for name, table in data.items()}


def _rows(path: Path, name: str, table: Any) -> dict[str, Row]:
    if isinstance(table, dict) and table and not any(isinstance(row, dict | list) for row in table.values()):
        return {"": table}
    if not isinstance(table, dict) or not all(isinstance(row, dict) for row in table.values()):
        raise TablesInvalid(
            f"{path}: table {name!r} mixes rows and other things. Write `key: {{field: value, ...}}`, one row a line."
        )
    return {str(key): row for key, row in table.items()}

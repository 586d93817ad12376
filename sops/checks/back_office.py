"""What dependencies name is there: simulated tables beside the file, and Python modules."""

from importlib.util import find_spec

from sops.checks.findings import Findings, Place, nearest
from sops.models import CallableFetch, Procedure, Simulated
from sops.tables import Tables


def check_back_office(procedure: Procedure, tables: Tables, found: Findings) -> None:
    for name, dependency in procedure.dependencies.items():
        fetch = dependency.fetch
        place: Place = ("dependencies", name, "fetch")
        if isinstance(fetch, CallableFetch) and not _importable(module := fetch.target.partition(":")[0]):
            found.warning(
                place,
                f"dependencies.{name}: there is no Python module {module!r} where this check runs.",
                "Install it, or start with PYTHONPATH set to its folder.",
            )
        if not isinstance(fetch, Simulated):
            continue
        if fetch.table not in tables:
            found.error(
                place,
                f"dependencies.{name}: there is no table {fetch.table!r} beside this file.",
                nearest(
                    fetch.table,
                    list(tables),
                    otherwise=f"Write it in data/{procedure.name}.yaml or {procedure.name}.data.yaml.",
                ),
            )
        elif fetch.key is None and "" not in tables[fetch.table]:
            found.error(
                place,
                f"dependencies.{name}: no `key` picks a row of table {fetch.table!r}.",
                "Name the fact whose value is the row's key, `key: ...`.",
            )


def _importable(module: str) -> bool:
    """Whether the module can be found; only the packages around it are imported, never the module itself."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False

"""The simulated tables beside a procedure hold what its dependencies look for."""

from sops.checks.findings import Findings, Place, nearest
from sops.models import Procedure, Simulated
from sops.tables import Tables


def check_back_office(procedure: Procedure, tables: Tables, found: Findings) -> None:
    for name, dependency in procedure.dependencies.items():
        fetch = dependency.fetch
        place: Place = ("dependencies", name, "fetch")
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

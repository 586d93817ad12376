"""One read-only SELECT as a data source, its parameters bound, never written into the text."""

import asyncio
import os
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuecard.errors import FetchRefused
from cuecard.prefetch.fetchers.base import TransientFetchError
from cuecard.prefetch.fetchers.callable import result_of
from cuecard.prefetch.types import FetchCall, FetchResult
from sops.models import SqlFetch

if TYPE_CHECKING:
    from sqlalchemy import URL, Engine

MOST_ROWS = 20
"""More rows than this are no item for a prompt."""
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_SELECT = re.compile(r"\s*(?:select|with)\b", re.IGNORECASE)
_OTHER_VERBS = re.compile(
    r"\b(?:insert|update|delete|merge|drop|alter|create|truncate|grant|revoke|attach|pragma|vacuum|call|copy|into)\b",
    re.IGNORECASE,
)


class SqlFetcher:
    """Runs in a thread, in a transaction that is always rolled back, read-only where the database knows the word."""

    def __init__(self) -> None:
        self._engines: dict[str, Engine] = {}

    async def fetch(self, call: FetchCall) -> FetchResult:
        source = call.spec.fetch
        assert isinstance(source, SqlFetch)
        if not reads_only(source.select):
            raise FetchRefused(call.dep, f"{call.dep}: select must be one SELECT; found {source.select.strip()[:40]!r}")
        rows = await asyncio.to_thread(partial(self._rows, call.dep, source, dict(call.args)))
        return result_of(call.dep, call.spec, rows)

    def close(self) -> None:
        for engine in self._engines.values():
            engine.dispose()

    def _rows(self, dep: str, source: SqlFetch, args: dict[str, Any]) -> list[dict[str, Any]]:
        from sqlalchemy import text
        from sqlalchemy.exc import OperationalError

        statement = text(source.select)
        wanted = set(statement.compile().params)
        # A parameter that a broad fetch does not have yet is NULL; the declaration says what that selects.
        values = {name: args.get(name) for name in wanted}
        try:
            with self._engine(dep, source.url_env).connect() as connection, connection.begin() as transaction:
                if connection.dialect.name in ("postgresql", "mysql", "mariadb"):
                    connection.execute(text("SET TRANSACTION READ ONLY"))
                found = connection.execute(statement, values).mappings().fetchmany(MOST_ROWS)
                transaction.rollback()
        except OperationalError as error:
            raise TransientFetchError(dep, f"{dep}: {error.orig}") from error
        return [dict(row) for row in found]

    def _engine(self, dep: str, variable: str) -> "Engine":
        from sqlalchemy import create_engine, make_url
        from sqlalchemy.exc import ArgumentError

        if variable not in self._engines:
            url = os.environ.get(variable)
            if not url:
                raise FetchRefused(dep, f"{dep}: set the environment variable {variable} to the database's URL")
            try:
                parsed = make_url(url)
            except ArgumentError as error:
                # Without the URL: there may be a password in it.
                raise FetchRefused(dep, f"{dep}: {variable} is no database URL such as sqlite:///file.db") from error
            missing = _missing_file(parsed)
            if missing is not None:
                raise FetchRefused(dep, f"{dep}: {variable} names {missing}, and there is no such file")
            self._engines[variable] = create_engine(parsed, pool_pre_ping=True)
        return self._engines[variable]


def _missing_file(url: "URL") -> str | None:
    """The SQLite file that is not there: opening it would make an empty one."""
    name = url.database or ""
    plain = url.get_backend_name() == "sqlite" and name not in ("", ":memory:") and not name.startswith("file:")
    return name if plain and not Path(name).is_file() else None


def reads_only(sql: str) -> bool:
    """Whether this is a single SELECT; strings and comments are looked past, not into."""
    bare = _QUOTED.sub(" ", sql).strip().rstrip(";")
    return bool(_SELECT.match(bare)) and ";" not in bare and not _OTHER_VERBS.search(bare)

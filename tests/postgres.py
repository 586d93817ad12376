"""A real PostgreSQL for tests: one server a run, started when first asked for, and a fresh database a test.

Import the two fixtures into a `conftest.py`. Where none can be started the tests are skipped and say why.
"""

import itertools
from collections.abc import Iterator

import pytest

from evals.postgres import PostgresUnavailable, new_database, temporary_postgres

_number = itertools.count()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    try:
        server = temporary_postgres()
        url = server.__enter__()
    except PostgresUnavailable as reason:
        pytest.skip(str(reason))
    try:
        yield url
    finally:
        server.__exit__(None, None, None)


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """An empty database of the test's own: `postgresql://...`, fit for CUECARD_DATABASE_URL."""
    with new_database(postgres_server, f"test_{next(_number)}") as url:
        yield url

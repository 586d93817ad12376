"""A store per test, in SQLite and in PostgreSQL: the same tests hold for both."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cuecard.precedents import Precedents
from tests.postgres import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    """Where a store may be opened, again and again."""
    if request.param == "sqlite":
        return tmp_path / "precedents.sqlite"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
async def store(place: str | Path) -> AsyncIterator[Precedents]:
    opened = await Precedents.open(place, half_life_sessions=10.0)
    yield opened
    await opened.close()

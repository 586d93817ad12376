"""A store per test: a SQLite file in a temporary folder."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cuecard.precedents import Precedents


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Precedents]:
    opened = await Precedents.open(tmp_path / "precedents.sqlite", half_life_sessions=10.0)
    yield opened
    await opened.close()

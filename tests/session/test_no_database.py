"""Where no database answers there is one clear error, and no line of a library's beside it."""

import asyncio
import logging

import pytest

from cuecard.errors import StorageError
from cuecard.session.storage import open_storage
from cuecard.settings import Settings


def test_a_database_that_is_down_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    async def open_it() -> None:
        async with open_storage(Settings(database_url="postgresql:///shop?host=/nowhere"), persist=True):
            raise AssertionError("nothing can be there")

    with caplog.at_level(logging.DEBUG), pytest.raises(StorageError, match=r"cannot be reached.*CUECARD_DATABASE_URL"):
        asyncio.run(open_it())
    assert [record.getMessage() for record in caplog.records if record.levelno > logging.DEBUG] == []

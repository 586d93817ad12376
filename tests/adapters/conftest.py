"""One call, as a voice framework's room would hold it."""

from collections.abc import AsyncIterator

import pytest

from cuecard.session import Engine, Session
from cuecard.settings import Settings

KNOWN = "it's policy 343705 and I was born on 8 January 1942"


@pytest.fixture
async def call(settings: Settings) -> AsyncIterator[Session]:
    async with Engine.open(settings, persist=False) as engine:
        yield await engine.session("insurance_renewal", session_id="room")

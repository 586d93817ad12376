"""MCP tools as data sources, against a real server on a pipe."""

import shlex
import sys
from pathlib import Path

import pytest

from cuecard.errors import FetchRefused
from cuecard.prefetch.fetchers import McpFetcher
from cuecard.prefetch.fetchers.base import TransientFetchError
from cuecard.prefetch.types import FetchCall
from tests.prefetch.helpers import dependency

SERVER = shlex.join([sys.executable, str(Path(__file__).with_name("mcp_server.py"))])


@pytest.mark.sockets
@pytest.mark.slow
async def test_an_mcp_tool_answers_with_its_record_and_an_unknown_one_is_named() -> None:
    pytest.importorskip("langchain_mcp_adapters")
    fetcher = McpFetcher()
    spec = dependency(fetch={"type": "mcp", "target": SERVER, "tool": "track"})
    fetched = await fetcher.fetch(FetchCall("tracking", spec, {"parcel": "7"}))
    assert fetched.records[0].data == {"parcel": "7", "place": "Leeds"}
    unknown = dependency(fetch={"type": "mcp", "target": SERVER, "tool": "lose"})
    with pytest.raises(FetchRefused, match="it has track"):
        await fetcher.fetch(FetchCall("tracking", unknown))


@pytest.mark.sockets
@pytest.mark.slow
async def test_an_mcp_server_that_cannot_start_is_named() -> None:
    pytest.importorskip("langchain_mcp_adapters")
    spec = dependency(fetch={"type": "mcp", "target": f"{sys.executable} -c pass", "tool": "track"})
    with pytest.raises(TransientFetchError, match=r"tracking: the MCP server .* does not answer \(\w+Error"):
        await McpFetcher().fetch(FetchCall("tracking", spec, {"parcel": "7"}))

"""The graph server with keys set: who has none gets nothing, and one tenant finds nothing of another's."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client

from tests.langgraph_dev.test_dev_server import running_server

pytestmark = [pytest.mark.sockets, pytest.mark.slow]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(tmp_path_factory.mktemp("guarded"), CUECARD_API_KEYS="ours:key-1,theirs:key-2") as url:
        yield url


def test_without_a_key_of_ours_nothing_is_answered(guarded: str) -> None:
    for headers in ({}, {"x-api-key": "nobody's"}, {"x-auth-scheme": "langsmith", "x-api-key": "any"}):
        answer = httpx.post(f"{guarded}/assistants/search", json={}, headers=headers)
        assert answer.status_code == 401, headers
    chat = httpx.post(f"{guarded}/v1/chat/completions", json={"model": "insurance_renewal", "messages": []})
    assert chat.status_code == 401, "the gateway beside the graphs asks for the same keys"


async def test_one_tenant_finds_nothing_of_anothers(guarded: str) -> None:
    message: Any = {"messages": [{"role": "user", "content": "policy 343705, born 8 January 1942"}]}
    async with get_client(url=guarded, api_key="key-1") as ours, get_client(url=guarded, api_key="key-2") as theirs:
        thread = (await ours.threads.create())["thread_id"]
        # Whatever tenant the request claims, the key says whose call it is.
        turn = await ours.runs.wait(thread, "responder", input=message, context={"tenant": "theirs"})
        assert isinstance(turn, dict)
        assert turn["reply"]
        assert await theirs.threads.search() == []
        for refused in (theirs.threads.get(thread), theirs.store.search_items(["cuecard", "ours"])):
            with pytest.raises(httpx.HTTPStatusError):
                await refused
        found = await theirs.store.search_items(["cuecard", "theirs"])
        assert found["items"] == []

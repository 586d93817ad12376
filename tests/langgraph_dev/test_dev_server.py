"""`make dev` as its users meet it: LangGraph's dev server, offline, driven through langgraph_sdk."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client
from pytest_socket import enable_socket

pytestmark = [pytest.mark.sockets, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
QUIET = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGGRAPH_NO_VERSION_CHECK": "true", "LANGSMITH_TRACING": "false"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_server(folder: Path, **environment: str) -> Iterator[str]:
    """The dev server on a free port with the flags of the Makefile; its own data folder; ended by its group's id."""
    enable_socket()
    port = free_port()
    log_file = folder / "server.log"
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", str(port)]
    with log_file.open("wb") as log:
        process = subprocess.Popen(
            [*command, "--n-jobs-per-worker", "20"],
            cwd=ROOT,
            env=os.environ | QUIET | {"CUECARD_DATA_DIR": str(folder / "data")} | environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_up(url, process, log_file)
        yield url
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(tmp_path_factory.mktemp("dev")) as url:
        yield url


@pytest.fixture
async def client(server: str) -> AsyncIterator[Any]:
    async with get_client(url=server) as opened:
        yield opened


def wait_until_up(url: str, process: subprocess.Popen[bytes], log: Path, limit_s: float = 120.0) -> None:
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        if process.poll() is not None:
            pytest.fail(f"the dev server ended: {log.read_text()[-3000:]}")
        try:
            if httpx.get(f"{url}/ok", timeout=2.0).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.2)
    pytest.fail(f"the dev server did not come up: {log.read_text()[-3000:]}")


async def slice_of(client: Any, session_id: str, at_least_turn: int, limit_s: float = 60.0) -> dict[str, Any]:
    """The published slice, once the supervisor has published that turn's."""
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        item = await client.store.get_item(["cuecard", "default", session_id], "slice")
        if item is not None and item["value"]["turn"] >= at_least_turn and item["value"]["pool"]["items"]:
            return dict(item["value"])
        await asyncio.sleep(0.25)
    raise AssertionError("no pass published a slice with items")


async def test_both_graphs_are_listed_with_schemas_that_are_not_null(client: Any) -> None:
    found = {one["graph_id"]: one["assistant_id"] for one in await client.assistants.search()}
    assert set(found) == {"responder", "supervisor"}
    for name, assistant in found.items():
        schemas = await client.assistants.get_schemas(assistant)
        assert schemas["input_schema"], name
        assert schemas["context_schema"], name
        assert "procedure" in json.dumps(schemas["context_schema"])
    drawn = await client.assistants.get_graph(found["responder"])
    assert {"recall", "decide", "respond", "handoff"} <= {node["id"] for node in drawn["nodes"]}


async def test_a_turn_streams_the_supervisor_fills_the_pool_and_the_next_turn_uses_it(client: Any) -> None:
    session_id = str(uuid.uuid4())
    await client.threads.create(thread_id=session_id)

    async def turn(words: str) -> tuple[list[str], dict[str, Any]]:
        said: list[str] = []
        final: dict[str, Any] = {}
        message = {"messages": [{"role": "user", "content": words}]}
        run = client.runs.stream(
            session_id,
            "responder",
            input=message,
            stream_mode=["custom", "values"],
            context={"procedure": "insurance_renewal"},
            multitask_strategy="interrupt",
        )
        async for part in run:
            if part.event == "custom":
                said.append(part.data.get("say") or part.data.get("hold"))
            elif part.event == "values":
                final = part.data
            assert part.event != "error", part.data
        return said, final

    said, _ = await turn("hello, it's policy 343705 and I was born on 8 January 1942")
    assert any(said)
    published = await slice_of(client, session_id, 1)
    ready = {item["dep"] for item in published["pool"]["items"]}
    assert ready & {"policy", "claims", "vehicle", "market", "payment_options"}
    said, state = await turn("about nine thousand miles a year")
    assert state["picks"], "the next turn is shown what the pass fetched"
    assert {pick["dep"] for pick in state["picks"]} & ready
    threads = await client.threads.search(metadata={"graph_id": "supervisor"})
    assert threads, "the supervisor ran as a run of its own"

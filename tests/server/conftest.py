"""A gateway in this process, one for each test module: in memory, on virtual time, with two tenants."""

import asyncio
import itertools
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from cuecard.clock import VirtualLoop
from cuecard.server.app import create_app
from cuecard.server.gateway import Gateway
from cuecard.settings import Settings
from tests.postgres import postgres_server, postgres_url
from tests.server.asgi import Request

__all__ = ["postgres_server", "postgres_url"]

KEYS = {"acme": "key-a", "globex": "key-b"}
_number = itertools.count()


class Client:
    """Talks to the gateway as one tenant; `run` takes a test's coroutine through the module's own event loop."""

    def __init__(self, app: FastAPI, runner: asyncio.Runner, tenant: str = "acme") -> None:
        self.app = app
        self.gateway: Gateway = app.state.gateway
        self.tenant = tenant
        self._runner = runner

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._runner.run(work)

    def as_tenant(self, tenant: str) -> "Client":
        return Client(self.app, self._runner, tenant)

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> Request:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return Request(self.app, method, path, body, {"authorization": f"Bearer {KEYS[self.tenant]}"} | named)

    async def get(self, path: str) -> Any:
        return await self.request("GET", path).whole()

    def chat(self, session: str, *said: str, **more: Any) -> Request:
        """A turn with the whole conversation: caller, agent, caller, ...; the last words are the caller's."""
        key = more.pop("key", "")
        roles = itertools.cycle(["user", "assistant"] if len(said) % 2 else ["assistant", "user"])
        messages = [{"role": role, "content": text} for role, text in zip(roles, said, strict=False)]
        body = {"model": "insurance_renewal", "messages": messages, **more}
        headers = {"x_session_id": session} | ({"idempotency_key": key} if key else {})
        return self.request("POST", "/v1/chat/completions", body, **headers)

    def session(self) -> str:
        return f"s{next(_number)}"


@contextmanager
def served(folder: Path, **settings: Any) -> Iterator[Client]:
    """A gateway with two tenants, until the end of the block."""
    keys = ",".join(f"{tenant}:{key}" for tenant, key in KEYS.items())
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        app = create_app(Settings(data_dir=folder, api_keys=keys, **settings), persist=False)
        client = Client(app, runner)
        client.run(client.gateway.engine())
        yield client
        client.run(client.gateway.aclose())


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with served(tmp_path_factory.mktemp("data")) as client:
        yield client

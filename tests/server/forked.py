"""Gateway processes that start in a second: forked from one that has imported everything, each with uvicorn and a port.

Only what takes long without being tested is hurried: imports are shared, and back offices answer five times as fast.
"""

import asyncio
import multiprocessing
import multiprocessing.connection
import socket
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn

from cuecard.clock import LoopClock
from cuecard.models.chat import register_provider
from cuecard.server.app import create_app
from cuecard.services import Services
from cuecard.settings import Settings
from tests.fakes import FakeChat

PROCEDURE = "insurance_renewal"
HURRY = 5.0
PASS_S = 0.25
"""Each call of the supervisor's model takes so long, so that there is a middle of a pass to be killed in."""


class Hurried(LoopClock):
    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / HURRY)


class Ponderous(FakeChat):
    """Thinks for a while and then says nothing of use; the supervisor goes on without it."""

    async def _next(self) -> str:
        await asyncio.sleep(PASS_S)
        return "hm"


def run(port: multiprocessing.connection.Connection, database_url: str, data_dir: Path) -> None:
    """The process: tells its port, then serves until it is killed."""
    register_provider("ponderous", lambda _model, _settings: Ponderous())
    settings = Settings(data_dir=data_dir, database_url=database_url, supervisor_model="ponderous:x", event_logs=False)
    services = Services(settings, clock=Hurried())
    app = create_app(settings, preload=[PROCEDURE], services=services)
    listening = socket.create_server(("127.0.0.1", 0))
    port.send(listening.getsockname()[1])
    uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False)).run(sockets=[listening])


class Gateway(NamedTuple):
    url: str
    process: Any

    def kill(self) -> None:
        """SIGKILL: no clean-up of any kind runs."""
        self.process.kill()
        self.process.join(timeout=30)


def spawn(database_url: str, data_dir: Path) -> Gateway:
    """Started; ask /readyz before use."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.server.preloaded"])
    ours, theirs = context.Pipe()
    process = context.Process(target=run, args=(theirs, database_url, data_dir), daemon=True)
    process.start()
    return Gateway(f"http://127.0.0.1:{ours.recv()}", process)

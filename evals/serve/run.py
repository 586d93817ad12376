"""Runs the processes of the bench: a model, a gateway on SQLite and one on PostgreSQL, and the callers."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
import orjson

from evals.postgres import PostgresUnavailable, new_database, temporary_postgres
from evals.serve.load import Pace, Task, Waits

START_TIMEOUT_S = 180.0


class Round(NamedTuple):
    """So many callers for so long."""

    n_sessions: int
    seconds: float
    pace: Pace = "people"
    ramp_s: float = 6.0

    @property
    def name(self) -> str:
        return str(self.n_sessions) if self.pace == "people" else f"{self.n_sessions}_{self.pace}"


ROUNDS = (
    Round(1, 20.0),
    Round(50, 30.0),
    Round(100, 40.0),
    Round(100, 20.0, "every_3s"),
    Round(100, 2.0, "at_once"),
)
QUICK_ROUNDS = (Round(1, 2.0, ramp_s=1.5), Round(100, 5.0, ramp_s=4.0))

Figures = dict[str, dict[str, dict[str, float | int]] | str]


def measure(*, quick: bool = False, on_step: Callable[[str], None] = lambda _: None) -> Figures:
    """Time to first word for each storage and round; a storage that cannot be had is told as text."""
    figures: Figures = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        model_port, ports = _free_port(), {"sqlite": _free_port(), "postgres": _free_port()}
        stack.enter_context(_process([sys.executable, "-m", "evals.serve.model", str(model_port)], {}))
        served: dict[str, int] = {}
        # They start side by side, as loading takes longer than measuring.
        for storage, port in ports.items():
            try:
                database = _database(stack) if storage == "postgres" else ""
            except PostgresUnavailable as reason:
                figures[storage] = str(reason)
                continue
            stack.enter_context(_gateway(port, folder / storage, f"http://127.0.0.1:{model_port}", database))
            served[storage] = port
        for storage, port in served.items():
            on_step(f"{storage}: starting")
            _wait_ready(f"http://127.0.0.1:{port}")
        for storage, port in served.items():
            rows: dict[str, dict[str, float | int]] = {}
            for one in QUICK_ROUNDS if quick else ROUNDS:
                on_step(f"{storage}: {one.name} sessions")
                prefix = f"{storage}-{one.name}"
                rows[one.name] = _summary(
                    talk(Task(port, model_port, one.n_sessions, one.seconds, one.pace, prefix, one.ramp_s)), one.seconds
                )
            figures[storage] = rows
    return figures


def talk(task: Task) -> Waits:
    """The callers in a process of their own."""
    command = [sys.executable, "-m", "evals.serve.load", orjson.dumps([*task]).decode()]
    ran = subprocess.run(command, capture_output=True, check=False, timeout=task.seconds + 120.0)
    if ran.returncode != 0:
        raise RuntimeError(f"the callers failed: {ran.stderr.decode()[-2000:]}")
    return Waits(**orjson.loads(ran.stdout.splitlines()[-1]))


def _summary(waits: Waits, seconds: float) -> dict[str, float | int]:
    def ms(values: list[float], q: float) -> float:
        return round(1000.0 * float(np.percentile(values, q)), 1) if values else 0.0

    model_p50 = ms(waits.model, 50)
    return {
        "n": len(waits.gateway),
        "n_asked_model": waits.n_asked,
        "turns_per_s": round(len(waits.gateway) / seconds, 2),
        "ttfw_ms_p50": ms(waits.gateway, 50),
        "ttfw_ms_p95": ms(waits.gateway, 95),
        "model_ms_p50": model_p50,
        "model_ms_p95": ms(waits.model, 95),
        "above_model_ms_p50": round(ms(waits.gateway, 50) - model_p50, 1),
        "above_model_ms_p95": round(ms(waits.gateway, 95) - model_p50, 1),
    }


def _database(stack: ExitStack) -> str:
    return stack.enter_context(new_database(stack.enter_context(temporary_postgres()), "bench"))


def _gateway(port: int, folder: Path, model: str, database: str) -> Any:
    environment = {
        "CUECARD_DATA_DIR": str(folder),
        "OPENAI_BASE_URL": f"{model}/v1",
        "OMP_NUM_THREADS": "1",
        # The supervisor's own model calls are the endpoint's time, not ours, and three clients' worth of CPU a turn.
        "CUECARD_SUPERVISOR_MODEL": "none",
        # Past turns are looked up but never agree enough: every turn waits for the model, or there is nothing to add.
        "CUECARD_PLAYBOOK_AGREEMENT": "1.1",
        **({"CUECARD_DATABASE_URL": database} if database else {}),
    }
    command = [str(Path(sys.executable).with_name("cuecard")), "serve", "insurance_renewal", "--port", str(port)]
    return _process(command, environment)


@contextmanager
def _process(command: list[str], environment: dict[str, str]) -> Iterator[None]:
    """Runs until the end of the block, in this environment without anybody's own settings."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("CUECARD_", "OPENAI_"))}
    process = subprocess.Popen(command, env=plain | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_ready(url: str) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"{url}/readyz", timeout=2.0).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"the gateway at {url} did not become ready within {START_TIMEOUT_S:g} s")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])

"""`cuecard serve` as a process of its own, on a free port of the loopback."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx

START_TIMEOUT_S = 150.0


class Served(NamedTuple):
    url: str
    process: "subprocess.Popen[str]"

    def kill(self) -> None:
        """As a machine does that runs out of memory: without a word."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=30)


def start(data_dir: Path, *arguments: str, **environment: str) -> Served:
    """Started, perhaps not ready yet."""
    command = [str(Path(sys.executable).with_name("cuecard")), "serve", "--port", "0", *arguments]
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("CUECARD_", "OPENAI_"))}
    variables = plain | {"CUECARD_DATA_DIR": str(data_dir), "OMP_NUM_THREADS": "1"} | environment
    told = data_dir / "serve.log"
    with told.open("w") as log:
        process = subprocess.Popen(command, env=variables, stderr=log, stdout=subprocess.DEVNULL, text=True)
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        # The address comes before the models are loaded.
        if "/v1;" in (said := told.read_text()):
            return Served("http://" + said.partition("http://")[2].partition("/")[0], process)
        time.sleep(0.1)
    process.kill()
    raise AssertionError(f"cuecard serve ended with {process.wait()}: {told.read_text()}")


def wait_ready(served: Served) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"{served.url}/readyz", timeout=2.0).status_code == 200:
                return
        except httpx.HTTPError:
            assert served.process.poll() is None, "cuecard serve has ended"
        time.sleep(0.1)
    raise AssertionError("cuecard serve did not become ready")


@contextmanager
def serve(data_dir: Path, *arguments: str, **environment: str) -> Iterator[Served]:
    """Ready to take calls; stopped at the end of the block."""
    served = start(data_dir, *arguments, **environment)
    try:
        wait_ready(served)
        yield served
    finally:
        if served.process.poll() is None:
            served.process.terminate()
            try:
                served.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                served.kill()

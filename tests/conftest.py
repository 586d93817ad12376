"""What all tests share: sockets stay closed unless a test is marked, and nobody's environment leaks in."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_socket import disable_socket, enable_socket

from cuecard.settings import Settings

for name in [name for name in os.environ if name.startswith(("CUECARD_", "OPENAI_", "LANGSMITH_", "LANGCHAIN_"))]:
    del os.environ[name]
os.environ.update(LANGSMITH_TRACING="false", LANGSMITH_TEST_TRACKING="false", LANGGRAPH_NO_VERSION_CHECK="true")


@pytest.fixture(autouse=True)
def _sockets(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tests marked `sockets` may use the loopback; the others find every socket shut."""
    if request.node.get_closest_marker("sockets") is None:
        yield
        return
    enable_socket()
    yield
    disable_socket(allow_unix_socket=True)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Defaults, with a data folder of the test's own."""
    return Settings(data_dir=tmp_path / "data")

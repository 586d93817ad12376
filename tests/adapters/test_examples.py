"""The examples run as they stand, offline."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.filterwarnings("default")

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_the_livekit_example_holds_three_turns() -> None:
    pytest.importorskip("livekit.agents")
    said = await load("livekit_call").main()
    assert len(said) == 3
    assert "policy number" in said[0]
    assert "pounds for the year" in said[2]


async def test_the_pipecat_example_answers() -> None:
    pytest.importorskip("pipecat")
    assert "how many miles" in await load("pipecat_call").main()

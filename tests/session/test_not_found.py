"""A number that nobody has on file is not asked for as if it had never been told."""

from pathlib import Path

from cuecard.clock import run_virtual
from cuecard.session import Engine
from cuecard.settings import Settings
from tests.session.returns import write_returns


async def nobody(order_number: str) -> None:
    return None


def test_a_number_told_in_the_first_breath_and_not_found_is_asked_for_again(tmp_path: Path, settings: Settings) -> None:
    path = write_returns(tmp_path)
    text = path.read_text(encoding="utf-8").replace(
        "tests.session.returns:order", "tests.session.test_not_found:nobody"
    )
    text = text.replace("facts:\n", "verify_with: order\nfacts:\n", 1)
    text = text.replace("    latency_s: 0.1", "    verified: false\n    latency_s: 0.1")
    asked_again = "I find nothing under {order_number}. Could you read it to me once more?"
    text = text.replace("I need the six digits of your order number to find the parcel.", asked_again)
    path.write_text(text, encoding="utf-8")

    async def call() -> list[str]:
        async with Engine.open(settings, persist=False) as engine:
            session = await engine.session(str(path))
            first = await session.ask("hello, my number is 440 192, where is it")
            other = await engine.session(str(path))
            return [first.text, (await other.ask("hello there")).text]

    told, untold = run_virtual(call())
    assert told == "I find nothing under 440192. Could you read it to me once more?"
    assert untold.startswith("Of course. What is your order number?")

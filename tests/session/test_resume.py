"""Kill the process in the middle of a call: facts, pool and history are there when it is taken up again."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

from cuecard.clock import run_virtual
from cuecard.events import SessionStarted, read_lines
from cuecard.session import Engine
from cuecard.settings import Settings

FIRST_LIFE = textwrap.dedent(
    """
    import asyncio, os, signal
    from pathlib import Path
    from cuecard.session import Engine
    from cuecard.settings import Settings

    async def main():
        async with Engine.open(Settings(data_dir=Path(os.environ["FOLDER"]))) as engine:
            session = await engine.session("insurance_renewal", session_id="the-call")
            await session.greet()
            await session.ask("hello, policy 343705, born 8 January 1942")
            while len(session.board.pool) < 4:
                await asyncio.sleep(0.05)
            await session.settle()
            await session.ask("about nine thousand miles a year")
            await session.settle()
            async for _ in session.say("what a lovely day"):
                os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(main())
    """
)


def test_a_killed_call_goes_on_with_its_facts_pool_and_history(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    done = subprocess.run(
        [sys.executable, "-c", FIRST_LIFE],
        env=os.environ | {"FOLDER": str(folder)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]

    async def second_life() -> None:
        async with Engine.open(Settings(data_dir=folder)) as engine:
            session = await engine.session("insurance_renewal", session_id="the-call")
            history = await session.history()
            assert [message["content"] for message in history if message["type"] == "human"] == [
                "hello, policy 343705, born 8 January 1942",
                "about nine thousand miles a year",
            ], "turns that were committed are there, the one cut off is not"
            assert {"policy", "claims"} <= {item.dep for item in session.board.pool.items}
            reply = await session.ask("could you tell me the price again please")
            assert session.board.desk.verified
            assert session.board.desk.facts["policy_number"] == "343705"
            assert session.board.desk.facts["annual_mileage"] == "9000"
            assert reply.action == "present_quote"
            await session.hang_up()

    import asyncio

    asyncio.run(second_life())
    log = read_lines(folder / "events" / "default" / "the-call.jsonl")
    assert [event.resumed for event in log if isinstance(event, SessionStarted)] == [False, True]


def test_two_tenants_with_one_session_name_share_nothing(settings: Settings) -> None:
    from cuecard.context import Context

    async def call() -> None:
        async with Engine.open(settings, persist=False) as engine:
            ours = await engine.session("insurance_renewal", session_id="s", context=Context(tenant="ours"))
            theirs = await engine.session("insurance_renewal", session_id="s", context=Context(tenant="theirs"))
            await ours.ask("policy 343705, born 8 January 1942")
            await ours.settle()
            await theirs.ask("hello there")
            assert theirs.board.desk.facts == {}
            assert not [item for item in theirs.board.pool.items if item.facts]
            assert len(await theirs.history()) == 2

    run_virtual(call())

"""Gateway processes are killed in the middle of turns and of passes; calls go on in another as if nothing had been."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.server.forked import PROCEDURE, Gateway, spawn

pytestmark = [pytest.mark.sockets, pytest.mark.slow, pytest.mark.timeout(900)]

KILLS = 20
LANES = 4
"""Calls that are had, and processes that are killed, side by side."""
CALLER = "hi, it's policy 343705 and I was born on 8 January 1942"
MILES = "about nine thousand miles a year"


class Standby:
    """Keeps a few processes warm, so that a call does not wait for one to start."""

    def __init__(self, database_url: str, data_dir: Path, warm: int = 3) -> None:
        self._where = database_url, data_dir
        self._ready: asyncio.Queue[Gateway] = asyncio.Queue(warm)
        self._all: list[Gateway] = []
        self._filling: list[asyncio.Future[None]] = []

    async def _fill(self) -> None:
        while True:
            gateway = await asyncio.to_thread(spawn, *self._where)
            self._all.append(gateway)
            try:
                async with asyncio.timeout(90):
                    await self._answers(gateway)
            except TimeoutError:
                # A fork of a process with threads may find a lock held for ever; that is no fault of a gateway's.
                gateway.kill()
                continue
            await self._ready.put(gateway)

    async def _answers(self, gateway: Gateway) -> None:
        async with httpx.AsyncClient(base_url=gateway.url) as client:
            while True:
                with suppress(httpx.HTTPError):
                    if (await client.get("/readyz")).status_code == 200:
                        return
                assert gateway.process.is_alive(), "a gateway process has ended by itself"
                await asyncio.sleep(0.1)

    @asynccontextmanager
    async def filled(self) -> AsyncIterator["Standby"]:
        self._filling = [asyncio.ensure_future(self._fill()) for _ in range(2)]
        try:
            yield self
        finally:
            for task in self._filling:
                task.cancel()
            await asyncio.gather(*self._filling, return_exceptions=True)
            for gateway in self._all:
                if gateway.process.is_alive():
                    gateway.kill()

    async def next(self) -> Gateway:
        getting = asyncio.ensure_future(self._ready.get())
        either: list[asyncio.Future[Any]] = [getting, *self._filling]
        done, _ = await asyncio.wait(either, timeout=300, return_when=asyncio.FIRST_COMPLETED)
        for task in done - {getting}:
            task.result()
        assert getting in done, "no gateway process became ready"
        return getting.result()


async def say(gateway: Gateway, session: str, words: str) -> str:
    """A turn, with a key that a repeat of it shares."""
    messages = [{"role": "user", "content": words}] if words else []
    headers = {"X-Session-Id": session, "Idempotency-Key": words or "greeting"}
    async with httpx.AsyncClient(base_url=gateway.url, timeout=60.0) as client:
        answer = await client.post(
            "/v1/chat/completions", json={"model": PROCEDURE, "messages": messages}, headers=headers
        )
    assert answer.status_code == 200, answer.text
    return str(answer.json()["choices"][0]["message"]["content"])


async def look(gateway: Gateway, session: str, part: str = "") -> Any:
    async with httpx.AsyncClient(base_url=gateway.url, timeout=60.0) as client:
        answer = await client.get(f"/v1/sessions/{session}{part}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def check(gateway: Gateway, session: str, *said: str) -> None:
    """Each of these turns was taken exactly once, and what they taught is known; then another turn is."""
    view = await look(gateway, session)
    assert [turn["heard"] for turn in view["turns"]] == ["", *said]
    assert view["turn"] == 1 + len(said)
    assert view["facts"] == {"policy_number": "343705", "date_of_birth": "8 January 1942"}
    assert view["verified"]
    pool = await look(gateway, session, "/pool")
    ids = [item["id"] for item in pool["items"]]
    assert len(ids) == len(set(ids))
    assert "identity" in {item["dep"] for item in pool["items"]}
    assert "9000" in await say(gateway, session, MILES)
    view = await look(gateway, session)
    assert [turn["heard"] for turn in view["turns"]] == ["", *said, MILES]
    assert view["facts"]["annual_mileage"] == "9000"


Killed = tuple[bool, Gateway]
"""Whether the kill came in the middle, and the process that has the call now."""


async def killed_in_a_turn(standby: Standby, first: Gateway, session: str, after_s: float) -> Killed:
    await say(first, session, "")
    turn = asyncio.ensure_future(say(first, session, CALLER))
    await asyncio.sleep(after_s)
    under_way = not turn.done()
    await asyncio.to_thread(first.kill)
    with suppress(httpx.HTTPError):
        await turn
    second = await standby.next()
    assert "Gordon Peel" in await say(second, session, CALLER)
    await check(second, session, CALLER)
    return under_way, second


async def killed_in_a_pass(standby: Standby, first: Gateway, session: str, after_s: float) -> Killed:
    await say(first, session, "")
    assert "Gordon Peel" in await say(first, session, CALLER)
    await asyncio.sleep(after_s)
    await asyncio.to_thread(first.kill)
    second = await standby.next()
    # The client has had this reply, but it may ask again.
    assert "Gordon Peel" in await say(second, session, CALLER)
    await check(second, session, CALLER)
    return True, second


@pytest.mark.parametrize(("kill", "longest_s"), [(killed_in_a_turn, 0.7), (killed_in_a_pass, 0.5)])
async def test_no_turn_is_lost_or_doubled_by_a_kill(
    kill: Any, longest_s: float, postgres_url: str, tmp_path: Path
) -> None:
    rng = random.Random(11)
    moments = [rng.uniform(0.0, longest_s) for _ in range(KILLS)]
    async with Standby(postgres_url, tmp_path).filled() as standby:

        async def lane(calls: range) -> int:
            current, hits = await standby.next(), 0
            for n in calls:
                hit, current = await kill(standby, current, f"call-{n}", moments[n])
                hits += hit
            return hits

        hit = await asyncio.gather(*(lane(range(n, KILLS, LANES)) for n in range(LANES)))
    assert sum(hit) >= KILLS // 2, "most kills must come in the middle to prove anything"

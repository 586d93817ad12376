"""Callers at the gateway: each speaks, listens, thinks and speaks again; and some who ask the bare model instead."""

import asyncio
import random
import time
from typing import NamedTuple

import httpx
import orjson

LINES = (
    "hello there, it's about my car policy running out",
    "hold on, the letter is somewhere on this desk",
    "well it went up an awful lot since last spring",
    "my neighbour pays less than half of that, you know",
    "right, I see what you mean, go on then",
    "lovely weather for a drive today at least",
)
"""Written for this bench; nothing is tuned on them."""
THINK_S = 3.0
ALONE_THINK_S = 0.3
"""A single caller speaks more often, or there would be too few turns to tell anything."""
N_BARE = 8
"""Callers of the bare model, while the others talk: the same machine, at the same time."""


class Waits(NamedTuple):
    """Seconds to the first word."""

    gateway: list[float]
    model: list[float]


async def talk(gateway_url: str, model_url: str, n_sessions: int, seconds: float, prefix: str) -> Waits:
    """Keep `n_sessions` calls going for that long."""
    waits = Waits([], [])
    think_s = THINK_S if n_sessions > 1 else ALONE_THINK_S
    rng = random.Random(n_sessions)
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=n_sessions + N_BARE)
    async with httpx.AsyncClient(timeout=60.0, limits=limits) as client:
        loop = asyncio.get_running_loop()
        # The first second lets everybody's first turn, in which sessions are made, pass unmeasured.
        measured_from, until = loop.time() + THINK_S, loop.time() + THINK_S + seconds

        async def speak(url: str, name: str, model: str, into: list[float]) -> None:
            await asyncio.sleep(rng.random() * THINK_S)
            n = 0
            while loop.time() < until:
                words = LINES[n % len(LINES)]
                wait_s = await first_word(client, url, name, model, words)
                if loop.time() - wait_s >= measured_from:
                    into.append(wait_s)
                n += 1
                await asyncio.sleep(think_s * rng.uniform(0.7, 1.3))

        await asyncio.gather(
            *(speak(gateway_url, f"{prefix}-{n}", "insurance_renewal", waits.gateway) for n in range(n_sessions)),
            *(speak(model_url, f"bare-{n}", "fake", waits.model) for n in range(N_BARE)),
        )
    return waits


async def first_word(client: httpx.AsyncClient, url: str, name: str, model: str, words: str) -> float:
    """Seconds from the request to the first piece with words in it; the rest of the reply is read, too."""
    body = {"model": model, "messages": [{"role": "user", "content": words}], "stream": True}
    began, first_s = time.perf_counter(), -1.0
    request = client.stream(
        "POST", f"{url}/v1/chat/completions", content=orjson.dumps(body), headers={"X-Session-Id": name}
    )
    async with request as answer:
        answer.raise_for_status()
        async for line in answer.aiter_lines():
            if first_s < 0.0 and '"content"' in line:
                first_s = time.perf_counter() - began
    if first_s < 0.0:
        raise RuntimeError(f"{url} said nothing to {words!r}")
    return first_s

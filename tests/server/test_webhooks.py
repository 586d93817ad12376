"""Another system hears of hand-overs and ends: signed, once each, and again until it has understood."""

import asyncio
import hmac
from hashlib import sha256
from typing import Any

import httpx
import orjson
from pydantic import SecretStr

from cuecard.clock import run_virtual
from cuecard.server.webhooks import Webhooks
from cuecard.session import Engine
from cuecard.settings import Settings


def test_a_hand_over_and_an_end_are_told_signed_and_retried(settings: Settings) -> None:
    got: list[httpx.Request] = []

    def receiver(request: httpx.Request) -> httpx.Response:
        got.append(request)
        return httpx.Response(500 if len(got) < 3 else 200)

    chosen = settings.model_copy(
        update={"webhook_url": "https://desk.example/cuecard", "webhook_secret": SecretStr("shh")}
    )

    async def call() -> None:
        webhooks = Webhooks(chosen, transport=httpx.MockTransport(receiver))
        await webhooks.start()
        async with Engine.open(chosen, persist=False) as engine:
            engine.services.watchers.append(webhooks.watch)
            session = await engine.session("insurance_renewal", session_id="s")
            await session.ask("I want to talk to a real person, please put me through")
            assert session.reply.action == "hand_over"
            await asyncio.sleep(60.0)
            await session.hang_up()
        await webhooks.aclose()

    run_virtual(call())
    told: list[Any] = [orjson.loads(request.content) for request in got]
    assert [one["type"] for one in told] == ["call.handed_over"] * 3 + ["call.ended"]
    assert len({one["id"] for one in told[:3]}) == 1, "a retry is recognised by its id"
    assert told[0]["data"]["session_id"] == "s"
    assert told[3]["data"]["outcome"] == "handed_over"
    for request in got:
        at, _, digest = request.headers["X-Cuecard-Signature"].partition(",v1=")
        signed = hmac.new(b"shh", at[2:].encode() + b"." + request.content, sha256).hexdigest()
        assert digest == signed


def test_a_receiver_that_is_down_holds_nothing_up(settings: Settings) -> None:
    def receiver(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("nobody there", request=request)

    chosen = settings.model_copy(update={"webhook_url": "https://desk.example/cuecard"})

    async def call() -> float:
        webhooks = Webhooks(chosen, transport=httpx.MockTransport(receiver))
        await webhooks.start()
        webhooks._queue.put_nowait(b"{}")
        began = asyncio.get_running_loop().time()
        await webhooks.aclose()
        return asyncio.get_running_loop().time() - began

    assert run_virtual(call()) <= 5.1

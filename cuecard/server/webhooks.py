"""Tells another system when a call is handed over to a person and when it ends: signed, retried, never waited for."""

import asyncio
import hashlib
import hmac
import logging
import time
import uuid
from collections.abc import Callable

import httpx
import orjson
import tenacity

from cuecard.blackboard import Board
from cuecard.events import Event, Listener, SessionEnded, Spoke
from cuecard.settings import Settings

log = logging.getLogger(__name__)

ATTEMPTS = 5
TIMEOUT_S = 10.0
MAX_WAITING = 1000
CLOSING_S = 5.0
"""At shutdown, what still waits gets this long."""


class Webhooks:
    """One queue and one sender a process. Without a URL it does nothing."""

    def __init__(
        self,
        settings: Settings,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        pause: Callable[[float], "asyncio.Future[None]"] | None = None,
    ) -> None:
        self._url = settings.webhook_url
        self._secret = settings.webhook_secret
        self._transport = transport
        self._pause = pause or asyncio.sleep
        self._queue: asyncio.Queue[bytes] = asyncio.Queue(MAX_WAITING)
        self._sender: asyncio.Task[None] | None = None

    def watch(self, board: Board) -> Listener:
        def listen(event: Event) -> None:
            if self._url is None:
                return
            match event:
                case Spoke(heard=None) if board.kit.procedure.actions[event.action].kind == "hand_over":
                    self._put("call.handed_over", board, event, reason=board.live.belief.likely_state)
                case SessionEnded():
                    self._put("call.ended", board, event, outcome=event.outcome, reason=event.reason)

        return listen

    def _put(self, kind: str, board: Board, event: Event, **more: str) -> None:
        body = {
            "id": uuid.uuid4().hex,
            "type": kind,
            "created": int(time.time()),
            "data": {
                "tenant": board.tenant,
                "session_id": board.session_id,
                "procedure": board.kit.procedure.name,
                "turn": event.turn,
                "verified": board.desk.verified,
                "mood": board.belief.likely_mood,
                **more,
            },
        }
        try:
            self._queue.put_nowait(orjson.dumps(body))
        except asyncio.QueueFull:
            log.error("webhooks cannot be delivered: %d wait, this one is let go", MAX_WAITING)

    async def start(self) -> None:
        if self._url is not None and self._sender is None:
            self._sender = asyncio.get_running_loop().create_task(self._send_all(self._url))

    async def aclose(self) -> None:
        """Send what waits, for a while, then stop."""
        if self._sender is None:
            return
        try:
            async with asyncio.timeout(CLOSING_S):
                await self._queue.join()
        except TimeoutError:
            log.error("%d webhooks were not delivered before shutdown", self._queue.qsize())
        self._sender.cancel()
        await asyncio.wait([self._sender])

    async def _send_all(self, url: str) -> None:
        async with httpx.AsyncClient(timeout=TIMEOUT_S, transport=self._transport) as client:
            while True:
                body = await self._queue.get()
                try:
                    await self._send(client, url, body)
                except Exception as error:  # noqa: BLE001 - whatever is wrong with one, the next must be sent
                    log.error("a webhook was not delivered: %s: %s", type(error).__name__, error)
                finally:
                    self._queue.task_done()

    async def _send(self, client: httpx.AsyncClient, url: str, body: bytes) -> None:
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(httpx.HTTPError),
            stop=tenacity.stop_after_attempt(ATTEMPTS),
            wait=tenacity.wait_exponential_jitter(multiplier=0.5, max=30.0),
            sleep=self._pause,
            reraise=True,
        )
        async for attempt in retrying:
            with attempt:
                headers = {"Content-Type": "application/json"}
                if self._secret is not None:
                    headers["X-Cuecard-Signature"] = signature(self._secret.get_secret_value(), int(time.time()), body)
                (await client.post(url, content=body, headers=headers)).raise_for_status()


def signature(secret: str, at: int, body: bytes) -> str:
    """`t=<unix seconds>,v1=<HMAC-SHA256 of "t.body">`: a receiver refuses what is old or does not match."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"

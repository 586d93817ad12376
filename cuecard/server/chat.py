"""`POST /v1/chat/completions` and `GET /v1/models`, as OpenAI's clients know them."""

import asyncio
import hashlib
import logging
import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import orjson
from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.responses import Response

from cuecard.errors import CuecardError, StorageError, UtteranceError
from cuecard.server.calls import Call
from cuecard.server.errors import ApiError, json_response
from cuecard.server.gateway import Gateway
from cuecard.server.placing import wish_of
from cuecard.server.speech import ClientGone, EventStream, unless_gone
from cuecard.server.turns import LiveTurn

log = logging.getLogger(__name__)

SESSION_HEADER = "X-Session-Id"


class ChatMessage(BaseModel):
    model_config = ConfigDict(extra="allow")

    role: str
    content: str | list[dict[str, Any]] | None = None


class ChatRequest(BaseModel):
    """What is used of a chat completion request; everything else is accepted and ignored."""

    model_config = ConfigDict(extra="allow")

    model: str = Field(description="The procedure to follow.", examples=["insurance_renewal"])
    messages: list[ChatMessage] = Field(
        default_factory=list,
        description="The conversation; without a user's message the agent opens the call.",
        examples=[[{"role": "user", "content": "Hi, my policy is about to run out."}]],
    )
    stream: bool = False
    stream_options: dict[str, Any] | None = None
    user: str | None = Field(default=None, description="Names the session, if neither header nor metadata does.")
    metadata: dict[str, Any] | None = Field(default=None, description="`session_id` in it names the session.")


def routes(gateway: Gateway) -> APIRouter:
    router = APIRouter(tags=["OpenAI-compatible"])

    schema = ChatRequest.model_json_schema()
    schema["properties"]["messages"]["items"] = schema.pop("$defs")["ChatMessage"]
    body = {"required": True, "content": {"application/json": {"schema": schema}}}

    @router.post("/v1/chat/completions", openapi_extra={"requestBody": body}, summary="Take a turn")
    async def chat(request: Request) -> Response:
        """The caller's final words in, the agent's reply out, streamed or whole.

        The session is named by the `X-Session-Id` header, `metadata.session_id`, or `user`. Repeating a request (same
        `Idempotency-Key`, or the same conversation) repeats the reply and never a write.
        """
        asked = _parsed(await request.body())
        tenant: str = request.state.tenant
        session_id = request.headers.get(SESSION_HEADER) or _session_named(asked) or uuid.uuid4().hex[:12]
        call = await gateway.call(tenant, session_id, asked.model)
        key = request.headers.get("Idempotency-Key", "")
        wish = wish_of(
            [message.model_dump() for message in asked.messages],
            hashlib.sha256(key.encode()).hexdigest()[:24] if key else "",
            gateway.settings.max_utterance_chars,
        )
        answer = _Answer(gateway, call, call.take(wish), asked)
        return await answer.respond(request)

    @router.get("/v1/models", summary="The procedures")
    async def models(request: Request) -> Response:
        return json_response({"object": "list", "data": [_model(name) for name in sorted(gateway.procedures)]})

    @router.get("/v1/models/{model}", summary="One procedure")
    async def model(model: str) -> Response:
        if model not in gateway.procedures:
            raise ApiError(404, f"The model {model!r} does not exist.", code="model_not_found", param="model")
        return json_response(_model(model))

    return router


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "cuecard"}


def _parsed(body: bytes) -> ChatRequest:
    try:
        return ChatRequest.model_validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or None
        message = f"{where}: {first['msg']}" if where else f"The body is not valid JSON: {first['msg']}"
        raise ApiError(400, message, param=where) from error


def _session_named(asked: ChatRequest) -> str:
    """Where platforms put the name of a call: metadata, Vapi's `call`, ElevenLabs' extra body, or `user`."""
    extra = asked.model_extra or {}
    places = [
        (asked.metadata or {}).get("session_id"),
        _inside(extra.get("call"), "id"),
        _inside(extra.get("elevenlabs_extra_body"), "session_id"),
        asked.user,
        extra.get("user_id"),
    ]
    return next((str(name) for name in places if name), "")


def _inside(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


class _Answer:
    """One request's answer: it listens to a turn, which other requests may listen to as well."""

    def __init__(self, gateway: Gateway, call: Call, turn: LiveTurn, asked: ChatRequest) -> None:
        self._gateway = gateway
        self._call = call
        self._turn = turn
        self._asked = asked
        self._id = f"chatcmpl-{uuid.uuid4().hex}"
        self._created = int(time.time())

    async def respond(self, request: Request) -> Response:
        name = self._call.session.session_id
        # A name may hold what no header can; the body tells it as well.
        headers = {SESSION_HEADER: name} if name.isascii() and name.isprintable() else {}
        texts = self._texts()
        try:
            # Errors before the first word can still be a proper status.
            first = await unless_gone(request.receive, _next(texts))
            if self._asked.stream:
                return EventStream(self._events(first, texts), headers)
            text = (first or "") + await unless_gone(request.receive, _rest(texts))
            return json_response(self._whole(text), headers=headers)
        except ClientGone:
            await texts.aclose()
            return Response(status_code=499)
        except (CuecardError, asyncio.CancelledError) as error:
            await texts.aclose()
            raise _as_api_error(error) from error

    async def _texts(self) -> AsyncGenerator[str]:
        """The pieces as text; a holding phrase is set off from what follows it."""
        procedure = self._call.session.board.kit.procedure.name
        held = False
        async with aclosing(self._turn.listen()) as pieces:
            first = True
            async for piece in pieces:
                if first:
                    self._gateway.metrics.first_word.labels(procedure).observe(time.perf_counter() - self._turn.began)
                    first = False
                yield f" {piece.text}" if held else piece.text
                held = piece.holding

    async def _events(self, first: str | None, texts: AsyncGenerator[str]) -> AsyncGenerator[bytes]:
        async with aclosing(texts):
            # Also when nothing was said: clients build the message from its role.
            yield self._chunk({"role": "assistant", "content": first or ""})
            try:
                async for text in texts:
                    yield self._chunk({"content": text})
            except Exception as error:
                # The status is sent already: only the stream can tell.
                if not isinstance(error, CuecardError):
                    log.error("a turn failed while it was spoken", exc_info=error)
                body = _as_api_error(error).response().body
                yield b"data: " + bytes(body) + b"\n\n"
                return
            yield self._chunk({}, "stop")
            if (self._asked.stream_options or {}).get("include_usage"):
                yield _event(self._envelope("chat.completion.chunk") | {"choices": [], "usage": self._usage()})
            yield b"data: [DONE]\n\n"

    def _envelope(self, kind: str) -> dict[str, Any]:
        return {"id": self._id, "object": kind, "created": self._created, "model": self._asked.model}

    def _chunk(self, delta: dict[str, str], finish: str | None = None) -> bytes:
        chunk = self._envelope("chat.completion.chunk")
        chunk["choices"] = [{"index": 0, "delta": delta, "finish_reason": finish}]
        if finish is not None:
            chunk["cuecard"] = self._about()
        return _event(chunk)

    def _whole(self, text: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": text}
        return self._envelope("chat.completion") | {
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": self._usage(),
            "cuecard": self._about(),
        }

    def _about(self) -> dict[str, Any]:
        desk, reply = self._call.session.board.desk, self._call.session.reply
        return {
            "session_id": self._call.session.session_id,
            "turn": self._call.session.board.turn,
            "action": desk.last_action,
            "tier": reply.tier,
            "stall_s": round(reply.stall_s, 3),
            "overhead_ms": round(reply.overhead_ms, 3),
            "ended": desk.ended,
            "outcome": desk.outcome,
        }

    def _usage(self) -> dict[str, int]:
        count = self._call.session.services.count_tokens
        said = count("".join(piece.text for piece in self._turn.pieces))
        asked = count(self._turn.wish.words)
        return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


async def _next(texts: AsyncGenerator[str]) -> str | None:
    return await anext(texts, None)


async def _rest(texts: AsyncGenerator[str]) -> str:
    return "".join([text async for text in texts])


def _event(body: dict[str, Any]) -> bytes:
    return b"data: " + orjson.dumps(body) + b"\n\n"


def _as_api_error(error: BaseException) -> ApiError:
    if isinstance(error, UtteranceError):
        return ApiError(400, str(error), param="messages")
    if isinstance(error, StorageError):
        return ApiError(503, str(error), code="storage_unavailable")
    # What a foreign error says is for the log: it may quote what nobody outside should read.
    told = str(error) if isinstance(error, CuecardError) else ""
    return ApiError(500, told or "The turn came to nothing; try again.")

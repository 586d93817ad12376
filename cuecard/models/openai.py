"""LangChain's OpenAI model with a light wire underneath: what a turn pays for is the model, and not its client.

OpenAI's own client spends 12 ms of CPU on a streamed answer, most of it in building typed objects nobody looks at
(docs/decisions/0186). Requests and results are the parent's; only what travels between them is read here.
"""

import ssl
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import httpx
import orjson
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr

KEPT_OPEN_S = 60.0
"""Idle connections are closed after this; callers pause for up to half a minute."""
_TOLD_BYTES = 500
"""Of what a failing endpoint says, so much goes into the error."""


class EndpointError(Exception):
    """The endpoint refused, or answered what is no chat completion."""


class LeanChatOpenAI(ChatOpenAI):
    """Speaks chat completions by itself, and leaves everything else (the Responses API, tools) to its parent."""

    _session: aiohttp.ClientSession | None = PrivateAttr(None)
    _url: str = PrivateAttr("")
    _headers: dict[str, str] = PrivateAttr(default_factory=dict)

    async def start(self) -> None:
        """Make the connection pool; without this the first request does."""
        if self._session is None or self._session.closed:
            client = self.root_async_client
            self._url = f"{str(client.base_url).rstrip('/')}/chat/completions"
            said = client.default_headers | {"Content-Type": "application/json"}
            self._headers = {name: value for name, value in said.items() if isinstance(value, str)}
            # The certificates that the parent's client would trust.
            secure: ssl.SSLContext | bool = httpx.create_ssl_context() if self._url.startswith("https") else True
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_OPEN_S, ssl=secure),
                # The budget is kept by whoever asks, since a whole answer and its first word share it.
                timeout=aiohttp.ClientTimeout(total=None),
                trust_env=True,
            )

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        *,
        stream_usage: bool | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        body = self._get_request_payload(messages, stop=stop, **kwargs, stream=True)
        if not _is_plain(body):
            async for chunk in super()._astream(messages, stop, run_manager, stream_usage=stream_usage, **kwargs):
                yield chunk
            return
        if self._should_stream_usage(stream_usage, **kwargs):
            body["stream_options"] = {"include_usage": True}
        async with await self._post(body) as answer:
            async for text in _texts(answer.content.iter_any()):
                chunk = ChatGenerationChunk(message=AIMessageChunk(content=text))
                if run_manager is not None:
                    await run_manager.on_llm_new_token(text, chunk=chunk)
                yield chunk

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        extra = kwargs.pop("extra_body", None) or {}
        body = self._get_request_payload(messages, stop=stop, **kwargs)
        if not _is_plain(body):
            return await super()._agenerate(messages, stop, run_manager, **kwargs, extra_body=extra)
        async with await self._post(body | extra) as answer:
            parsed = _parsed(await answer.read())
            if not parsed.get("choices"):
                raise EndpointError("an answer without choices")
            return self._create_chat_result(parsed)

    async def _post(self, body: dict[str, Any]) -> aiohttp.ClientResponse:
        await self.start()
        assert self._session is not None
        answer = await self._session.post(self._url, data=orjson.dumps(body), headers=self._headers)
        if answer.status >= 400:
            async with answer:
                told = (await answer.content.read(_TOLD_BYTES)).decode(errors="replace")
            raise EndpointError(f"HTTP {answer.status}: {told}")
        return answer


def _is_plain(body: dict[str, Any]) -> bool:
    """Whether it is a chat completion whose answer is nothing but words."""
    return "messages" in body and not body.keys() & {"tools", "functions", "response_format", "logprobs", "audio"}


async def _texts(reads: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """The words of a stream of events; those that arrive together are passed on together.

    A stream that just stops is a failure: half a sentence must not pass for a reply.
    """
    rest, ended = b"", False
    async for read in reads:
        *lines, rest = (rest + read).split(b"\n")
        text, ends = _said(lines)
        ended |= ends
        if text:
            yield text
    text, ends = _said([rest])
    if text:
        yield text
    if not (ended or ends):
        raise EndpointError("the stream ended in the middle of an answer")


def _said(lines: list[bytes]) -> tuple[str, bool]:
    """The words in these lines, and whether they end the answer."""
    texts, ended = [], False
    for line in lines:
        data = line.removeprefix(b"data:").strip() if line.startswith(b"data:") else b""
        if data == b"[DONE]":
            ended = True
        if not data or data == b"[DONE]":
            continue
        event = _parsed(data)
        if event.get("error"):
            raise EndpointError(str(event["error"])[:_TOLD_BYTES])
        for choice in event.get("choices") or ():
            ended |= bool(choice.get("finish_reason"))
            if text := (choice.get("delta") or {}).get("content"):
                texts.append(text)
    return "".join(texts), ended


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        parsed = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise EndpointError(f"not JSON: {data[:80]!r}") from error
    if not isinstance(parsed, dict):
        raise EndpointError(f"not a chat completion: {data[:80]!r}")
    return parsed

"""The chat model seam: streams words and structured answers, in time or not at all."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import httpx
from langchain_core.exceptions import LangChainException
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, ValidationError

from cuecard.clock import outside_world
from cuecard.errors import ModelError
from cuecard.settings import Settings

S = TypeVar("S", bound=BaseModel)
Factory = Callable[[str, Settings], BaseChatModel]

_PROVIDERS: dict[str, Factory] = {}

Message = tuple[str, str]
"""(role, text); roles are system, user and assistant."""


def register_provider(name: str, factory: Factory) -> None:
    """Make `name:model` a valid `CUECARD_CHAT_MODEL`; the last registration of a name wins."""
    _PROVIDERS[name] = factory


def _openai(model: str, settings: Settings) -> BaseChatModel:
    from cuecard.models.openai import LeanChatOpenAI

    return LeanChatOpenAI(
        model=model,
        # Local servers want no key, but the client insists on one.
        api_key=settings.openai_api_key or "none",
        base_url=settings.openai_base_url,
        timeout=settings.chat_timeout_s,
        max_retries=0,
        stream_usage=False,
    )


register_provider("openai", _openai)


def _provider_errors() -> tuple[type[Exception], ...]:
    from aiohttp import ClientError
    from openai import OpenAIError

    from cuecard.models.openai import EndpointError

    return (EndpointError, ClientError, OpenAIError, httpx.HTTPError, LangChainException, OSError, ValueError)


class Chat:
    """One chat model with its time budget: a first try and one retry share it, then ModelError.

    The caller degrades to approved replies; nothing here ever waits longer than `timeout_s`.
    """

    def __init__(self, model: BaseChatModel, timeout_s: float, count: Callable[[str], int]) -> None:
        self.model = model
        self.timeout_s = timeout_s
        self._count = count
        self._errors: tuple[type[Exception], ...] = (*_provider_errors(), TimeoutError)
        self.tokens = 0
        """Spent so far, both ways, by the same count that budgets prompts."""

    async def stream(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        """The reply as it comes. Retried once if nothing had come yet; half a sentence is never said twice."""
        deadline = time.monotonic() + self.timeout_s
        said = False
        for attempt in (1, 2):
            try:
                async for text in self._stream_once(messages, deadline):
                    said = True
                    yield text
                return
            except self._errors as error:
                if said or attempt == 2 or time.monotonic() >= deadline:
                    raise ModelError(f"the chat model gave no reply: {describe(error)}") from error

    async def _stream_once(self, messages: Sequence[Message], deadline: float) -> AsyncIterator[str]:
        self.tokens += sum(self._count(text) for _, text in messages)
        stream = self.model.astream(_as_langchain(messages))
        try:
            while True:
                with outside_world():
                    async with _until(deadline):
                        chunk = await anext(stream, None)
                if chunk is None:
                    return
                if text := chunk.text:
                    self.tokens += self._count(text)
                    yield text
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()

    async def start(self) -> None:
        """Make connections possible now and not on somebody's first turn; for models that have a way to."""
        if (start := getattr(self.model, "start", None)) is not None:
            await start()

    async def aclose(self) -> None:
        """Close the model's connections."""
        if (close := getattr(self.model, "aclose", None)) is not None:
            await close()

    async def complete(self, messages: Sequence[Message]) -> str:
        return "".join([text async for text in self.stream(messages)])

    async def structured(self, messages: Sequence[Message], schema: type[S]) -> S:
        """One answer that validates against `schema`; a malformed one gets one repair within the same budget."""
        deadline = time.monotonic() + self.timeout_s
        asked = list(messages)
        for attempt in (1, 2):
            try:
                text = await self._json(asked, schema, deadline)
                return schema.model_validate_json(strip_fence(text))
            except ValidationError as error:
                problem = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:5])
                if attempt == 2:
                    raise ModelError(f"the chat model's answer does not fit {schema.__name__}: {problem}") from error
                asked = [
                    *messages,
                    ("assistant", text),
                    ("user", f"That was not valid: {problem}. Answer in JSON only."),
                ]
            except self._errors as error:
                if attempt == 2 or time.monotonic() >= deadline:
                    raise ModelError(f"the chat model gave no answer: {describe(error)}") from error
        raise AssertionError("unreachable")

    async def _json(self, messages: Sequence[Message], schema: type[BaseModel], deadline: float) -> str:
        wanted = {
            "type": "json_schema",
            "json_schema": {"name": schema.__name__, "schema": _json_schema(schema), "strict": False},
        }
        self.tokens += sum(self._count(text) for _, text in messages)
        with outside_world():
            async with _until(deadline):
                # As plain JSON: given by name, the client parses the answer into models of its own, which costs 20 ms.
                answer = await self.model.ainvoke(_as_langchain(messages), extra_body={"response_format": wanted})
        self.tokens += self._count(answer.text)
        return answer.text


@lru_cache(maxsize=64)
def _json_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """Made once for each type: it takes longer than sending it."""
    return schema.model_json_schema()


def describe(error: BaseException) -> str:
    """Class and first line: enough to mend it, short enough for a log that must hold no content."""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0][:200]}" if str(error) else type(error).__name__


def strip_fence(text: str) -> str:
    """The JSON inside a Markdown code fence, which small models like to add."""
    text = text.strip()
    if text.startswith("```"):
        text = text.partition("\n")[2].rpartition("```")[0]
    return text.strip()


def _until(deadline: float) -> asyncio.Timeout:
    """A time-out on real seconds, also where the loop's time is virtual (it passes as the real one while outside)."""
    return asyncio.timeout(max(0.0, deadline - time.monotonic()))


def _as_langchain(messages: Sequence[Message]) -> list[BaseMessage]:
    kinds = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
    return [kinds[role](content=text) for role, text in messages]


def build_chat(settings: Settings, count: Callable[[str], int], model: str | None = None) -> Chat | None:
    """The configured model, built once at start-up (a client takes seconds to construct); None without an endpoint."""
    name = model or settings.chat_model
    provider, _, rest = name.rpartition(":") if name.partition(":")[0] in _PROVIDERS else ("", "", name)
    if not provider and not settings.has_model:
        return None
    built = _PROVIDERS[provider or "openai"](rest, settings)
    return Chat(built, settings.chat_timeout_s, count)

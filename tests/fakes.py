"""Fakes that are real: a chat model provider that is registered like any other, and a planner with a slow mind."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field

from cuecard.models.chat import register_provider
from cuecard.settings import Settings


class FakeChat(BaseChatModel):
    """Says the replies it was given, in turn, word by word; `calls` holds what it was asked.

    A reply that is an exception is raised; a number is slept for (seconds), and the next reply follows.
    """

    replies: list[Any] = Field(default_factory=list)
    calls: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "fake"

    async def _next(self) -> str:
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, int | float):
            await asyncio.sleep(reply)
            return await self._next()
        if isinstance(reply, Exception):
            raise reply
        return str(reply)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise NotImplementedError("the graphs only call models asynchronously")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.calls.append(messages)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(await self._next()))])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        self.calls.append(messages)
        text = await self._next()
        for piece in text.replace(" ", " \0").split("\0"):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=piece))
            if run_manager is not None:
                await run_manager.on_llm_new_token(piece, chunk=chunk)
            yield chunk


def fake_provider(name: str, replies: Sequence[Any]) -> FakeChat:
    """Register `name:any` as a chat model that says these replies, and return it."""
    chat = FakeChat(replies=list(replies))
    register_provider(name, lambda _model, _settings: chat)
    return chat


def with_model(settings: Settings, model: str, **more: Any) -> Settings:
    return settings.model_copy(update={"chat_model": model, **more})

"""The slow tool and the quick model of the bench."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult

TOOL_S = 3.86
"""The tool of the published comparison with voice frameworks that hold tool calls back until the turn ends."""
MODEL_S = 0.25
"""To the model's first token."""


async def whereabouts() -> dict[str, str]:
    """Answers after `TOOL_S` of real time."""
    await asyncio.sleep(TOOL_S)
    return {"place": "at the depot in Leeds", "day": "tomorrow morning"}


class QuickModel(BaseChatModel):
    """A chat model whose first token takes `MODEL_S`; always the same step and words."""

    @property
    def _llm_type(self) -> str:
        return "quick"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise NotImplementedError("the graphs only stream")

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        await asyncio.sleep(MODEL_S)
        for piece in ("STEP: tell_whereabouts\n", "It is at the depot ", "and comes tomorrow."):
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))

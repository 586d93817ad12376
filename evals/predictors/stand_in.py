"""A chat model for the LLM row where none is configured: it costs what a call costs and knows nothing."""

import re
from typing import Any

import orjson
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

NAMED = 3
"""Steps it names for each turn."""
_LISTED = re.compile(r"^- (\w+): (.+)$", re.M)


class StandIn(BaseChatModel):
    """Reads the prompt as a model would and names the first listed steps that are not done yet.

    Its sentences ask about those steps in the procedure's words. What it scores is what reading the prompt in order is
    worth; the tokens are a real call's, the milliseconds those of everything but a model.
    """

    @property
    def _llm_type(self) -> str:
        return "stand-in"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        system, asked = str(messages[0].content), orjson.loads(str(messages[-1].content))
        steps = dict(_LISTED.findall(system.rpartition("Agent steps:")[2].partition("Caller states:")[0]))
        left = [name for name in steps if name not in asked["steps_done"]] or list(steps)
        answer: dict[str, Any] = {
            f"turn_{turn}": [
                {"caller": "", "agent": name, "p": 1.0 / (rank + 1)}
                for rank, name in enumerate(left[turn - 1 : turn - 1 + NAMED])
            ]
            for turn in range(1, asked["turns_ahead"] + 1)
        }
        answer["sentences"] = [
            {"turn": 1, "text": f"What about this: {steps[name]}", "p": 0.2} for name in left[:NAMED]
        ]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(orjson.dumps(answer).decode()))])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop)

"""A chat model as a reranker, and how far it agrees with cosine."""

import re
from collections.abc import Sequence

import orjson

from cuecard.models.chat import Message
from cuecard.pool import Pick
from cuecard.prefetch.types import Item
from evals.experiments.answers import Answer, Answers
from prompts import load_prompt

MOST_TEXT = 300
"""Letters of a note that the model is shown."""
_NUMBER = re.compile(r"\d+")


class ModelRerank:
    """Numbers of the notes in the model's order; `last` is the answer they came from."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self.last = Answer("")

    async def __call__(self, words: str, items: Sequence[Item]) -> list[int]:
        self.last = await self._answers.to(messages_for(words, items))
        return [int(one) - 1 for one in _NUMBER.findall(self.last.text)]


def messages_for(words: str, items: Sequence[Item]) -> list[Message]:
    """Notes are numbered from 1; caller's words and notes are data."""
    notes = [{"n": n, "note": item.text[:MOST_TEXT]} for n, item in enumerate(items, start=1)]
    about = {"notes": notes, "caller_said": words}
    return [("system", load_prompt("rerank").render()), ("user", orjson.dumps(about).decode())]


def overlap(ours: Sequence[Pick], theirs: Sequence[Pick]) -> float | None:
    """Share of the model's picks that cosine picked too; None where the model picked nothing."""
    wanted = {pick.item.id for pick in theirs}
    return round(len(wanted & {pick.item.id for pick in ours}) / len(wanted), 3) if wanted else None

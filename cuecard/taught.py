"""What the past calls of one tenant and procedure teach a scheduler, kept up to date in the background."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field

import numpy as np

from cuecard.errors import StorageError
from cuecard.past_calls import PastCalls, lookahead, past_calls, searched_by
from cuecard.precedents import Precedents
from cuecard.precedents.past import PastStep
from cuecard.precedents.topics import SAME_TOPIC
from cuecard.predictors.bank import sayable
from cuecard.predictors.types import TurnView, Vector
from cuecard.prefetch.allowance import Allowance
from cuecard.prefetch.asked import Embed
from cuecard.prefetch.lookahead import Lookahead
from sops.models import Procedure

MINIMUM = 30
"""Finished calls from which on they are believed."""
EVERY = 50
"""Calls after which the lesson is learned again."""

_log = logging.getLogger(__name__)

InBackground = Callable[[Coroutine[object, object, None]], None]


@dataclass(slots=True)
class Taught:
    """Nothing until enough calls have ended. Only the event loop changes it; the work is done on other threads.

    Sentences are read again with every new call, so that a forgotten one does not live on here; what its steps added
    to the habits goes when they are learned again.
    """

    precedents: Precedents
    tenant: str
    procedure: Procedure
    embed: Embed
    in_background: InBackground
    latencies_s: Mapping[str, float]
    price_s: float
    allowance: Allowance
    ahead: Lookahead | None = None
    asked_of: Mapping[str, str] = field(default_factory=dict)
    """The dependency that each question goes to."""
    sentences: dict[str, str] = field(default_factory=dict)
    """How each question is typically put."""
    _vectors: dict[str, Vector] = field(default_factory=dict)
    _calls: set[str] = field(default_factory=set)
    """Those seen since the last lesson."""
    _due: int = 0
    """How many of them it takes until the next."""
    _busy: bool = False

    def notice(self, session_id: str) -> None:
        """This call goes on; its first notice may start a lesson."""
        if session_id not in self._calls and not self._busy:
            self._calls.add(session_id)
            self._busy = True
            self.in_background(self._keep_up())

    def question_of(self, turn: TurnView) -> str | None:
        """What the caller asked about in that turn, as habits call it."""
        if turn.embedding is None or searched_by(self.procedure, turn.action) is None or not self._vectors:
            return None
        cosines = {topic: float(np.dot(row, turn.embedding)) for topic, row in self._vectors.items()}
        nearest = max(cosines, key=cosines.__getitem__)
        return nearest if cosines[nearest] >= SAME_TOPIC else None

    def vector_of(self, topic: str) -> Vector:
        """The embedding of that question's sentence."""
        return self._vectors[topic]

    async def _keep_up(self) -> None:
        try:
            if len(self._calls) > self._due:
                await self._learn()
            await self._read_sentences()
        except StorageError as error:
            _log.warning("%s Past calls of %s are looked at again with the next call.", error, self.procedure.name)
        finally:
            self._busy = False

    async def _learn(self) -> None:
        calls = await self.precedents.past_calls(self.tenant, self.procedure.name)
        past, ahead = PastCalls([], {}), None
        if len(calls) >= MINIMUM:
            past, ahead = await asyncio.to_thread(self._lesson, calls)
        self.ahead, self.asked_of = ahead, past.asked_of
        self._due = EVERY if ahead is not None else MINIMUM - len(calls)
        self._calls.clear()

    def _lesson(self, calls: list[list[PastStep]]) -> tuple[PastCalls, Lookahead]:
        past = past_calls(self.procedure, calls)
        return past, lookahead(self.procedure, past, dict(self.latencies_s), self.price_s, self.allowance)

    async def _read_sentences(self) -> None:
        topics = [int(topic) for topic in self.asked_of]
        said = await self.precedents.typical_questions(self.tenant, self.procedure.name, topics) if topics else {}
        plain = {str(topic): sayable(words) for topic, words in said.items()}
        new = [topic for topic, words in plain.items() if self.sentences.get(topic) != words]
        rows = await asyncio.to_thread(self.embed, [plain[topic] for topic in new]) if new else ()
        vectors = {topic: self._vectors[topic] for topic in plain if topic not in new}
        self._vectors = vectors | dict(zip(new, rows, strict=True))
        self.sentences = plain

"""A model that says in its own words what the agenda has decided: the same caller, with wording nobody wrote down.

The agenda stays in charge of what is said, so that goals, facts and success mean the same whoever speaks. A rewording
that loses a number or a date, rambles, or does not come in time is not used: the written line is said instead, and
counted.
"""

import random
import re
from collections import Counter
from typing import Protocol

from cuecard.errors import ModelError
from cuecard.models.chat import Chat
from evals.callers.agenda import Agenda
from evals.callers.caller import CallerTurn, spoken
from prompts.loader import load_prompt
from sops.models import Procedure

MOST_WORDS = 3
"""A rewording may be this many times as long as the line (and ten words): more is another statement."""
_DIGITS = "zero|one|two|three|four|five|six|seven|eight|nine"
_VALUE = re.compile(
    rf"\d[\d,./-]*\d|\d|\boh(?=\s(?:{_DIGITS}|\d))|\b(?:{_DIGITS}|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty"
    r"|sixty|seventy|eighty|ninety|hundred|thousand|half|first|second|third|january|february|march|april|may|june"
    r"|july|august|september|october|november|december)\b"
)


class Voice(Protocol):
    """Gives a turn of the agenda its final words."""

    async def say(self, turn: CallerTurn, agent_said: str) -> CallerTurn: ...


class ModelVoice:
    """Any chat model of the seam, OpenAI-compatible endpoints included."""

    def __init__(self, chat: Chat, procedure: Procedure, agenda: Agenda, rng: random.Random) -> None:
        cohort = procedure.cohorts[agenda.cohort]
        self._chat = chat
        self._cohort, self._mood = cohort.description, cohort.moods[agenda.mood].description
        self._agenda = agenda
        self._rng = rng
        self.written = 0
        """Lines said as written, because no usable rewording came."""

    async def say(self, turn: CallerTurn, agent_said: str) -> CallerTurn:
        if not turn.meant:
            return turn
        prompt = load_prompt("caller").render(
            cohort=self._cohort, mood=self._mood, meant=turn.meant, agent=agent_said or "(nothing yet)"
        )
        try:
            words = _one_line(await self._chat.complete([("user", prompt)]))
        except ModelError:
            words = ""
        if not says_the_same(turn.meant, words):
            self.written += 1
            return turn
        return spoken(turn, words, self._agenda.noise, self._rng)


def says_the_same(meant: str, words: str) -> bool:
    """Whether no value was lost or added and the length is that of a rewording; meaning beyond that is not checked."""
    if not words or len(words.split()) > MOST_WORDS * len(meant.split()) + 10:
        return False
    return Counter(_VALUE.findall(meant.lower())) == Counter(_VALUE.findall(words.lower()))


def _one_line(text: str) -> str:
    return " ".join(text.split()).strip('"“” ')

"""Sentences from wording: picked without repeating until all were used, and filled with values as they are spoken."""

import random
from collections.abc import Mapping, Sequence

from evals.callers.spoken import say
from evals.callers.wording import Wording


class Lines:
    """Picks sentences; none comes twice before all of its kind have come."""

    def __init__(self, wording: Wording, rng: random.Random) -> None:
        self._wording = wording
        self._rng = rng
        self._left: dict[str, list[str]] = {}

    def act(self, name: str) -> str:
        return self.pick(self._wording.lines[name], name)

    def pick(self, sentences: Sequence[str], name: str) -> str:
        left = self._left.get(name)
        if not left:
            left = list(sentences)
            self._rng.shuffle(left)
            self._left[name] = left
        return left.pop()


class Sayer:
    """Puts values into sentences."""

    def __init__(self, wording: Wording, lines: Lines, rng: random.Random) -> None:
        self._wording = wording
        self._lines = lines
        self._rng = rng

    def give(self, values: Mapping[str, str], *, again: bool = False) -> str:
        said = [self._sentence(name, value) for name, value in values.items()]
        lead = self._lines.act("again") + " " if again else ""
        return lead + self._lines.act("and").join(said)

    def correct(self, name: str, old: str, new: str) -> str:
        line = self._lines.act("corrects")
        return line.replace("{old}", self._spoken(name, old)).replace("{new}", self._sentence(name, new))

    def _sentence(self, name: str, value: str) -> str:
        says = self._lines.pick(self._wording.facts[name].says, "fact:" + name)
        return says.replace("{value}", self._spoken(name, value))

    def _spoken(self, name: str, value: str) -> str:
        words = self._wording.facts[name]
        if words.spoken.get(value):
            return self._lines.pick(words.spoken[value], f"value:{name}:{value}")
        return say(value, words.form, self._rng)

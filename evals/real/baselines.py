"""What the mixture has to beat: the simplest counts, each as a predictor of its own."""

import re
from collections.abc import Sequence

from cuecard.predictors.counts import HORIZON, Context, CountKey, Kind, MemoryCounts, contexts, situation
from cuecard.predictors.shrinkage import TURNS, chain, normalised
from cuecard.predictors.types import UNLABELLED, Forecast, SessionView, TurnView

_KINDS: tuple[Kind, ...] = ("action", "source")


class ExactCounts:
    """The first of `levels` that was ever seen speaks alone: no shrinkage, no prior. Counts may not change later."""

    def __init__(self, counts: MemoryCounts, levels: Sequence[str], by: str) -> None:
        self._counts = counts
        self._levels = levels
        self._by = by
        self._told: dict[tuple[str, int, tuple[Context, ...]], Forecast] = {}

    async def predict(self, view: SessionView, horizon: int = HORIZON) -> Forecast:
        known = contexts(situation(view))
        wanted = tuple(known[level] for level in self._levels if level in known)
        told = self._told.get((view.sop, horizon, wanted))
        if told is None:
            actions, sources = (
                tuple(self._first(view.sop, kind, offset, wanted) for offset in range(1, horizon + 1))
                for kind in _KINDS
            )
            told = self._told[view.sop, horizon, wanted] = Forecast(actions=actions, sources=sources, by=self._by)
        return told

    def _first(self, sop: str, kind: Kind, offset: int, wanted: Sequence[Context]) -> dict[str, float]:
        rows = (self._counts.row(CountKey(sop, kind, offset, context)) for context in wanted)
        return normalised(next((row for row in rows if row), {}))


class PlainShrinkage:
    """Counts of what followed the last one, two and three turns, each leaning on the wider ones (evidence, section 2).

    The yardstick for gains: the product's own counts look at more than that and rise with the product.
    """

    def __init__(self, counts: MemoryCounts) -> None:
        self._counts = counts
        self._told: dict[tuple[str, int, tuple[Context, ...]], Forecast] = {}

    async def predict(self, view: SessionView, horizon: int = HORIZON) -> Forecast:
        known = contexts(situation(view))
        wanted = tuple(known[level] for level in TURNS if level in known)
        told = self._told.get((view.sop, horizon, wanted))
        if told is None:
            actions, sources = (
                tuple(self._leaning(view.sop, kind, offset, wanted) for offset in range(1, horizon + 1))
                for kind in _KINDS
            )
            told = self._told[view.sop, horizon, wanted] = Forecast(actions=actions, sources=sources, by="shrinkage")
        return told

    def _leaning(self, sop: str, kind: Kind, offset: int, wanted: Sequence[Context]) -> dict[str, float]:
        return chain([self._counts.row(CountKey(sop, kind, offset, context)) for context in wanted], {})


class AccountKey:
    """Exact counts under (procedure, caller state, last action), as the published account kept them.

    STAR labels no caller states; `manner` reads one off the words. Unseen keys fall back to the procedure's majority.
    """

    def __init__(self) -> None:
        self._counts = MemoryCounts(None)

    def learn(self, turns: Sequence[TurnView]) -> None:
        for index, turn in enumerate(turns):
            for offset in range(1, HORIZON + 1):
                if index + offset >= len(turns):
                    break
                target = turns[index + offset]
                labels: dict[Kind, str] = {"action": target.label, "source": target.source}
                for kind, label in labels.items():
                    if kind == "action" and label == UNLABELLED:
                        continue
                    for context in _contexts(turn):
                        self._counts.count(CountKey(turn.sop, kind, offset, context), label)

    async def predict(self, view: SessionView, horizon: int = HORIZON) -> Forecast:
        wanted = _contexts(view.turns[-1]) if view.turns else [("sop",)]
        parts = []
        for kind in _KINDS:
            found = []
            for offset in range(1, horizon + 1):
                rows = (self._counts.row(CountKey(view.sop, kind, offset, context)) for context in wanted)
                found.append(normalised(next((row for row in rows if row), {})))
            parts.append(tuple(found))
        return Forecast(actions=parts[0], sources=parts[1], by="account_key")


def _contexts(turn: TurnView) -> list[Context]:
    return [("state", turn.action, manner(turn.utterance)), ("sop",)]


_YES = re.compile(r"\b(yes|yeah|yep|sure|ok|okay|please do|sounds good|correct)\b", re.I)
_NO = re.compile(r"\b(no|nope|nah|not|don't|can't|wrong)\b", re.I)
_BYE = re.compile(r"\b(thanks|thank you|bye|goodbye|that's all|that is all)\b", re.I)
_DIGIT = re.compile(r"\d")


def manner(words: str) -> str:
    """A coarse caller state from the words alone."""
    if not words:
        return "silent"
    if "?" in words:
        return "asks"
    for name, pattern in (("thanks", _BYE), ("declines", _NO), ("agrees", _YES), ("gives_number", _DIGIT)):
        if pattern.search(words):
            return name
    return "tells"

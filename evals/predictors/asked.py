"""Counts with the questions of earlier calls: what the product's bank does, on calls held in memory."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from cuecard.models.embeddings import Matrix
from cuecard.predictors.types import Forecast, Predictor, SessionView, Utterance
from evals.predictors.record import Call

SAME = 0.8
"""Cosine from which two questions ask the same."""
OFFERED = 8


class AskedBefore:
    """Adds to a forecast the questions that earlier callers asked most after the same step, alike ones merged."""

    def __init__(
        self,
        inner: Predictor,
        calls: Sequence[Call],
        asks: Callable[[str], bool],
        embed: Callable[[Sequence[str]], Matrix],
    ) -> None:
        self._inner = inner
        asked = [
            (call.turns[n - 1].action if n else "", turn.utterance)
            for call in calls
            for n, turn in enumerate(call.turns)
            if asks(turn.state) and turn.utterance
        ]
        self._texts = [text for _, text in asked]
        self._topic = _topics(embed(self._texts)) if asked else []
        self._after: dict[str, Counter[int]] = {}
        for (action, _), topic in zip(asked, self._topic, strict=True):
            self._after.setdefault(action, Counter())[topic] += 1
        self._all = Counter(self._topic)

    async def predict(self, view: SessionView, horizon: int = 3) -> Forecast:
        made = await self._inner.predict(view, horizon)
        here = self._after.get(view.actions[-1] if view.turns else "", Counter())
        # Two earlier questions anywhere weigh as much as one after this very step.
        weight = {topic: here[topic] + 0.5 * n for topic, n in self._all.items()}
        likeliest = sorted(weight, key=lambda topic: -weight[topic])[:OFFERED]
        total = sum(weight.values()) or 1.0
        said = tuple(Utterance(self._texts[topic], weight[topic] / total, 1, "bank") for topic in likeliest)
        return replace(made, utterances=(*made.utterances, *said))


def _topics(vectors: Matrix) -> list[int]:
    """For each question, the first earlier one that asks the same."""
    heads: list[int] = []
    topics = []
    for n, vector in enumerate(vectors):
        near = [head for head in heads if float(np.dot(vectors[head], vector)) >= SAME]
        topics.append(near[0] if near else n)
        if not near:
            heads.append(n)
    return topics

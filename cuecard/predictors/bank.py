"""What callers asked in other calls at this point: predicted questions without a model and without a token."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cuecard.belief.types import Distribution
from cuecard.predictors.counts import HORIZON, Context, CountKey, Counts, contexts, situation
from cuecard.predictors.shrinkage import chain, normalised
from cuecard.predictors.types import SessionView, TurnView, Utterance

if TYPE_CHECKING:
    from cuecard.precedents import Precedents

NO_QUESTION = "0"
"""Label of a turn in which the caller asked nothing."""
LOOK_BACK = 3
"""Turns in which a question still says what the next one will be about; the store counts by the same rule."""
_STAND_IN = re.compile(r"\s*\{\w+\}")


def sayable(kept: str) -> str:
    """A kept sentence without what stands in it for personal values: nobody says that."""
    return _STAND_IN.sub("", kept).strip()


class QuestionBank:
    """Questions of other callers of the same tenant and procedure, by what usually comes next.

    The topic of the next question is counted as actions are: by the agent's last action, the caller's state and the
    topic of the last question. Each likely topic is spoken for by its most typical sentence. Where documents are
    FAQ-like, this recovered most of what knowing the question would bring; elsewhere it costs only its fetches.
    """

    def __init__(self, precedents: "Precedents", asks: Callable[[str, TurnView], bool]) -> None:
        """`asks(sop, turn)`: whether the caller asked something that documents may answer in that turn."""
        self._precedents = precedents
        self._asks = asks

    async def predict(self, view: SessionView, n: int = 5, horizon: int = HORIZON) -> tuple[Utterance, ...]:
        """At most n sentences per offset, likeliest first; `p` is the chance that such a question is asked there.

        Topics asked in this call already are left out: what answers them has been fetched.
        """
        asked = {
            back: turn.embedding
            for back, turn in enumerate(reversed(view.turns))
            if turn.embedding is not None and self._asks(view.sop, turn)
        }
        topics = await self._precedents.nearest_topics(view.tenant, view.sop, [*asked.values()]) if asked else []
        recent = [topic for back, topic in zip(asked, topics, strict=True) if back < LOOK_BACK and topic]
        forecast = await self._forecast(view, recent[0] if recent else 0, horizon)
        done = {NO_QUESTION, *map(str, topics)}
        likely = [_likely(topics_at, done, n) for topics_at in forecast]
        wanted = sorted({int(topic) for offset in likely for topic, _ in offset})
        if not wanted:
            return ()
        said = await self._precedents.typical_questions(view.tenant, view.sop, wanted)
        return tuple(
            Utterance(sayable(said[int(topic)]), p, offset, "bank")
            for offset, topics_at in enumerate(likely, start=1)
            for topic, p in topics_at
            if int(topic) in said
        )

    async def _forecast(self, view: SessionView, topic: int, horizon: int) -> list[Distribution]:
        """Distributions over topics (and NO_QUESTION) at +1..+horizon."""
        levels = contexts(situation(view))
        narrowing = [levels[name] for name in ("sop", "last", "state") if name in levels]
        following: list[Context] = [("topic", str(topic))] if topic else []
        offsets = range(1, horizon + 1)
        keys = [CountKey(view.sop, "topic", offset, one) for offset in offsets for one in (*narrowing, *following)]
        rows = await self._precedents.counts(view.tenant).read(keys)
        width = len(narrowing) + len(following)
        return [_mixed(rows[start : start + width], len(narrowing)) for start in range(0, len(rows), width)]


def _mixed(rows: Sequence[Counts], n_narrowing: int) -> Distribution:
    """By step and state, tilted by how much oftener than anywhere a topic follows the last question's."""
    by_step = chain(rows[:n_narrowing], {})
    if len(rows) == n_narrowing:
        return by_step
    anywhere = chain(rows[:1], {})
    following = chain(rows[n_narrowing:], anywhere)
    return normalised({topic: by_step.get(topic, 0.0) * following.get(topic, 0.0) / p for topic, p in anywhere.items()})


def _likely(topics: Distribution, left_out: set[str], n: int) -> list[tuple[str, float]]:
    """The n likeliest topics with their probabilities."""
    open_topics = [(topic, p) for topic, p in topics.items() if topic not in left_out and p > 0.0]
    return sorted(open_topics, key=lambda one: -one[1])[:n]

"""The 64-bit key of every context a turn is counted under.

Which contexts there are is the predictor's business (`predictors.counts.contexts`); here they get keys. A key is made
from label ids and is one integer, whatever the context holds, so that rows stay short and lie in order.
"""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from cuecard.predictors.counts import Context, Situation, contexts

TOPIC = "topic"
"""Level of the context "the caller's last question, at most three turns ago, was about this"."""
TOPIC_LEVELS = ("sop", "last", "state")
"""Levels, besides its own, under which the topic of the next question is counted; narrower ones are too thin for it."""


class Step(NamedTuple):
    """One turn as label ids; 0 is "nothing" or "not known"."""

    sop: int
    cohort: int = 0
    mood: int = 0
    state: int = 0
    action: int = 0
    source: int = 0
    topic: int = 0
    due: int = 0


class Keys(NamedTuple):
    """Where the events after some turn are counted."""

    steps: tuple[int, ...]
    """Contexts for actions, sources and states."""
    topics: tuple[int, ...]
    """Contexts for the topics of questions, wide to narrow."""


def keys_after(history: Sequence[Step]) -> Keys:
    """The contexts in force once the turns of `history` (at least one) are over."""
    last, recent = history[-1], history[-3:]
    topic = next((step.topic for step in reversed(recent) if step.topic), 0)
    now = Situation(
        tuple(str(step.action) for step in recent),
        _known(last.state),
        _known(last.mood),
        _known(last.cohort),
        _known(last.due),
    )
    return _keys(last.sop, now, topic)


@lru_cache(maxsize=65536)
def _keys(sop: int, now: Situation, topic: int) -> Keys:
    levels = contexts(now)
    about = [levels[name] for name in TOPIC_LEVELS if name in levels]
    if topic:
        about.append((TOPIC, str(topic)))
    return Keys(tuple(key(sop, level) for level in levels.values()), tuple(key(sop, level) for level in about))


def _known(label_id: int) -> str:
    return str(label_id) if label_id else ""


@lru_cache(maxsize=65536)
def key(sop: int, context: Context) -> int:
    """A signed 64-bit number for a context whose values are label ids as text.

    Among a million contexts, two share a key with odds of 3 in 10^8.
    """
    digest = blake2b("\x1f".join((str(sop), *context)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)

"""Pre-written replies are said only where they fit."""

import numpy as np
import pytest

from cuecard.pool import Vector
from cuecard.prefetch import fits, instruction


def unit(*values: float) -> Vector:
    vector = np.zeros(4, np.float32)
    vector[: len(values)] = values
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


ITEM = instruction(
    action="answer",
    utterance="is a cracked windscreen covered",
    vector=unit(1.0),
    reply="Yes, glass is covered.",
    p=0.4,
    now_s=0.0,
    ttl_s=60.0,
    sources=("windscreen",),
    state="asks",
)


def test_a_reply_fits_the_words_it_was_written_for() -> None:
    fit = fits(
        ITEM,
        action="answer",
        words="so is a crack covered",
        vector=unit(1.0, 0.5),
        ready=frozenset({"windscreen"}),
        now_s=1.0,
    )
    assert fit.ok


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"state": "hesitates"}, "written for asks"),
        ({"action": "quote"}, "written for answer"),
        ({"words": "isn't a cracked windscreen covered"}, "says no"),
        ({"words": "is a cracked windscreen covered above 300 pounds"}, "other numbers"),
        ({"vector": unit(0.2, 1.0)}, "words differ"),
        ({"ready": frozenset()}, "no longer there"),
        ({"now_s": 60.0}, "not a fresh"),
    ],
)
def test_a_reply_is_held_back_where_something_does_not_fit(changes: dict[str, object], reason: str) -> None:
    asked: dict[str, object] = {
        "action": "answer",
        "words": "is a cracked windscreen covered",
        "vector": unit(1.0),
        "ready": frozenset({"windscreen"}),
        "now_s": 1.0,
    }
    fit = fits(ITEM, **(asked | changes))  # type: ignore[arg-type]
    assert not fit.ok
    assert reason in fit.reason

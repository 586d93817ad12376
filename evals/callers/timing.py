"""When people speak: pauses of real calls, and the words of an utterance spread over the time it takes to say them.

From the end of one caller turn to the end of the next, the agent's own speech included, recorded service calls show a
median of 8 s with 2 s and 24 s at the 10th and 90th percentile; the caller speaks about 2 s of it (decision 0173).
Simulated callers draw from that. Waiting for a late answer comes on top.
"""

import math
import random
from typing import NamedTuple

MEDIAN_S, P10_S, P90_S = 8.0, 2.0, 24.0
LONGEST_S = 90.0
"""Nobody stays silent longer on a phone; the tail of the fit would."""
WORDS_PER_S = 3.3
"""Speaking rate: a median utterance of six or seven words takes 2 s."""
FASTEST_WORDS_PER_S = 4.5
"""Nobody speaks faster on the phone: a turn too short for its words is made long enough for them."""
MOST_OF_THE_TIME = 0.75
"""Part of a turn that the caller may fill with words before they hurry."""
REACTION_S = 0.2
"""Between hearing and speaking, even for who cuts in."""
_Z = 1.2815515655446004
"""Standard normal quantile of 0.9."""


class Interim(NamedTuple):
    """A recogniser's words so far, `at_s` after the caller began to speak."""

    at_s: float
    text: str


def draw_turn_s(rng: random.Random, hurry: float = 1.0) -> float:
    """Seconds from one end of speech to the next: log-normal, each side with its own width so that all three
    quantiles hold. `hurry` below 1 makes a caller quick to answer."""
    z = rng.gauss(0.0, 1.0)
    spread = math.log(P90_S / MEDIAN_S) if z > 0 else math.log(MEDIAN_S / P10_S)
    return min(LONGEST_S, hurry * MEDIAN_S * math.exp(z * spread / _Z))


def long_enough(words: str, turn_s: float) -> float:
    """The turn, or as long as these words take at least."""
    return max(turn_s, REACTION_S + len(words.split()) / FASTEST_WORDS_PER_S)


def speech_s(words: str, turn_s: float) -> float:
    """How long these words are spoken within a turn of `turn_s`, which must be long enough for them."""
    n = len(words.split())
    return min(n / WORDS_PER_S, max(MOST_OF_THE_TIME * turn_s, n / FASTEST_WORDS_PER_S))


def interims(words: str, lasting_s: float, rng: random.Random) -> tuple[Interim, ...]:
    """The transcript growing word by word; the last word of one in ten is still wrong, and mended by the next.

    The whole utterance is not among them: that is the final transcript's business.
    """
    said = words.split()
    whole = max(1, sum(len(word) + 1 for word in said))
    out: list[Interim] = []
    letters = 0
    for n, word in enumerate(said[:-1], start=1):
        letters += len(word) + 1
        last = word[: max(1, len(word) // 2)] if rng.random() < 0.1 else word
        out.append(Interim(lasting_s * letters / whole, " ".join([*said[: n - 1], last])))
    return tuple(out)

"""Examples as they reach us on a bad day: broken off in the middle, stumbled over, with words lost.

Written apart from the noise of the simulated callers, which the classifier is tried on.
"""

import random
import zlib

_STUMBLES = ("uh", "um", "like", "you know", "er", "i mean", "sort of", "well", "so", "basically")
# fmt: off
_LOST = frozenset({
    "a", "an", "the", "of", "to", "my", "i", "is", "it", "that", "and", "on", "in", "at", "for", "do", "me", "we",
    "you", "be", "have", "with", "this", "was",
})
# fmt: on
_HALF_FROM = 4
"""Shorter utterances are not broken off: nothing would be left to learn from."""


def broken_off(text: str) -> str:
    """The beginning (mostly) or the end of it; short ones come back as they are. The same text breaks the same way."""
    words = text.lower().split()
    if len(words) < _HALF_FROM:
        return text
    rng = random.Random(zlib.crc32(text.encode()))
    kept = max(2, round(len(words) * rng.uniform(0.5, 0.8)))
    if rng.random() < 0.3:
        return " ".join(words[-kept:])
    return " ".join([*words[:kept], *rng.choice([(), (), ("um",), ("the",), ("and",)])])


def stumbled(text: str) -> str:
    """With fillers, a word said twice, short words lost and a letter misheard: about one word in five is touched."""
    rng = random.Random(zlib.crc32(text.encode()) + 1)
    out: list[str] = []
    for word in text.lower().replace(",", "").replace(".", "").split():
        chance = rng.random()
        if chance < 0.08:
            out += [rng.choice(_STUMBLES), word]
        elif chance < 0.12:
            out += [word, word]
        elif chance < 0.2 and word in _LOST:
            continue
        elif chance < 0.24 and len(word) > 4:
            at = rng.randrange(1, len(word) - 1)
            out.append(word[:at] + word[at + 1 :])
        else:
            out.append(word)
    return " ".join(out) or text

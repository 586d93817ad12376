"""What lies between a caller's mouth and the recogniser's text: hesitations, and a seeded noise channel on words."""

import random
from dataclasses import dataclass

_FILLERS = ("uh", "um", "er", "you know", "like", "erm")
_SOUND_ALIKE = {
    "for": "four", "to": "two", "there": "their", "your": "you're", "right": "write", "know": "no",
    "would": "wood", "our": "hour", "pay": "play", "card": "car", "cover": "cover a", "claim": "clean",
    "renew": "re new", "booked": "book", "doctor": "doctors", "week": "weak", "price": "prize", "asked": "ask",
    "waiting": "weighting", "insured": "insure", "driver": "drive", "bank": "banks", "appointment": "a point meant",
}  # fmt: skip
_WEAK = frozenset(
    ("a", "an", "the", "of", "to", "my", "i", "is", "it", "that", "and", "on", "in", "at", "for", "do", "me", "we")
)

_VALUES = frozenset(
    ("zero", "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "thousand", "hundred")
)
"""Nobody starts a number again in the middle; who stumbles there says all of it once more."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Rates per word of one caller's line; all 0 is a clean transcript."""

    p_filler: float = 0.03
    p_restart: float = 0.02
    """A word said twice, as people do when they start again."""
    p_mishear: float = 0.02
    """A word that sounds like another is written as that."""
    p_drop: float = 0.02
    """A short word goes missing."""
    p_digit: float = 0.004
    """A digit is written as another one."""
    bare: bool = False
    """No capitals and no punctuation, as most recognisers deliver."""


def draw_noise(rng: random.Random) -> Noise:
    """One line: a third good, half ordinary, the rest bad (mobile in a car)."""
    way = rng.random()
    bare = rng.random() < 0.6
    if way < 0.33:
        return Noise(0.015, 0.01, 0.0, 0.0, 0.0, bare)
    if way < 0.85:
        return Noise(bare=bare)
    return Noise(0.05, 0.04, 0.05, 0.05, 0.01, bare)


def garble(text: str, noise: Noise, rng: random.Random) -> str:
    """The words as the recogniser hands them over. Values in digits suffer only `p_digit`."""
    out: list[str] = []
    for word in text.split():
        if rng.random() < noise.p_filler:
            out.append(rng.choice(_FILLERS) + ("" if noise.bare else ","))
        if any(letter.isdigit() for letter in word):
            out.append(_digits(word, noise, rng))
            continue
        bare = word.lower().strip(".,?!'")
        if bare in _WEAK and rng.random() < noise.p_drop:
            continue
        if bare in _SOUND_ALIKE and rng.random() < noise.p_mishear * 3:
            word = word.lower().replace(bare, _SOUND_ALIKE[bare])
        if rng.random() < noise.p_restart and bare.isalpha() and bare not in _VALUES:
            out.append(word.rstrip(".,?!"))
        out.append(word)
    heard = " ".join(out) or text
    return strip(heard) if noise.bare else heard


def strip(text: str) -> str:
    """Lower case without punctuation; what belongs inside numbers, dates and words stays."""
    kept = [word.strip('.,?!;:"') for word in text.lower().replace(" - ", " ").split()]
    return " ".join(word for word in kept if word)


def _digits(word: str, noise: Noise, rng: random.Random) -> str:
    return "".join(
        str(rng.randrange(10)) if letter.isdigit() and rng.random() < noise.p_digit else letter for letter in word
    )

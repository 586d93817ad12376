"""What an utterance looks like beside its embedding: hashed n-grams and a handful of speech cues.

The embedding blurs short and misheard answers; letters and cue words carry those.
"""

import zlib
from collections.abc import Sequence
from itertools import pairwise
from math import log1p
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cuecard.belief.words import NUMBER, tokens

Floats = npt.NDArray[np.float32]

BUCKETS = 8192
MAX_TOKENS = 120
"""Enough for a long turn; keeps the cost of any text under a millisecond."""


class Sparse(NamedTuple):
    """Bucket numbers, each once, and their weights."""

    buckets: npt.NDArray[np.int64]
    value: Floats


NOTHING = Sparse(np.zeros(0, np.int64), np.zeros(0, np.float32))


def ngrams(words: Sequence[str]) -> Sparse:
    """Word 1- and 2-grams with ends marked, and 4-grams of letters within words: counts damped by log."""
    counts: dict[int, float] = {}
    ends = ["^", *(word for word in words[:MAX_TOKENS] if word not in {",", "."}), "$"]
    for left, right in pairwise(ends):
        _add(counts, f"{left} {right}", 1.0)
        if right == "$":
            continue
        _add(counts, right, 1.0)
        padded = f"_{right}_"
        for start in range(len(padded) - 3):
            _add(counts, "c" + padded[start : start + 4], 0.5)
    return Sparse(
        np.fromiter(counts.keys(), np.int64, len(counts)),
        np.log1p(np.fromiter(counts.values(), np.float32, len(counts))),
    )


def _add(counts: dict[int, float], gram: str, weight: float) -> None:
    bucket = zlib.crc32(gram.encode()) % BUCKETS
    counts[bucket] = counts.get(bucket, 0.0) + weight


_CUES: tuple[frozenset[str], ...] = tuple(
    frozenset(words.split())
    for words in (
        "yes yeah yep yup yea sure correct right ok okay absolutely exactly fine certainly aye",
        "no nope nah not don't dont won't isn't doesn't never cannot can't cant wrong incorrect",
        "thanks thank thankyou cheers appreciate grateful",
        "bye goodbye byebye cheerio later goodnight",
        "hello hi hey morning afternoon evening",
        "pardon repeat again catch hear heard slower louder",
        "wait hold hang second sec moment minute",
        "human person someone somebody representative agent operator manager supervisor real",
        "what which who whom whose",
        "how when where why",
        "is are do does did can could will would should am may",
        "price cost costs expensive cheap cheaper pay paying premium fee fees charge dollars pounds money bucks",
        "hurry quick quickly fast rush rushing busy short asap meeting late",
        "ridiculous annoying annoyed angry frustrated frustrating fed joke terrible awful useless unacceptable stupid",
        "worried worry worrying afraid scared nervous anxious concerned concern scary safe trust scam",
        "unsure sure maybe think guess possibly probably dunno perhaps might confused know",
        "january february march april may june july august september october november december",
        "monday tuesday wednesday thursday friday saturday sunday tomorrow today tonight next week",
        "name named called speaking i'm",
        "actually sorry meant mean instead change wait",
        "great perfect brilliant lovely wonderful excellent awesome good cool",
        "i my me mine",
        "you your yours",
    )
)
N_CUES = len(_CUES) + 5


def cues(words: Sequence[str]) -> Floats:
    """Cue groups present, length, question and number marks: dense, each between 0 and about 1."""
    plain = [word for word in words if word not in {",", ".", "!", "?", ";"}]
    seen = set(plain)
    out = np.zeros(N_CUES, np.float32)
    for column, group in enumerate(_CUES):
        out[column] = not group.isdisjoint(seen)
    first = plain[0] if plain else ""
    out[-5] = "?" in words
    out[-4] = first in _CUES[8] | _CUES[9] | _CUES[10]
    out[-3] = NUMBER in seen
    out[-2] = min(log1p(len(plain)) / 4.0, 1.0)
    out[-1] = len(plain) <= 3
    return out


def text_features(text: str) -> tuple[Sparse, Floats]:
    """Both views of one text; an empty one (nothing but an embedding is known) has none."""
    if not text:
        return NOTHING, np.zeros(N_CUES, np.float32)
    words = tokens(text, MAX_TOKENS)
    return ngrams(words), cues(words)

"""Words to features: the embedding, letters and cues, and which everyday speech act they sound like.

Speech acts are the same on every phone line ("hang on, I gave you the wrong one"), so they are learned once, from
`speech_acts.txt`, and their probabilities are features for each procedure's own states.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cuecard.belief.features import Floats, Sparse, text_features
from cuecard.belief.head import Rows, Weights, fit

Embed = Callable[[Sequence[str]], Floats]

ACTS_FILE = Path(__file__).with_name("speech_acts.txt")
ACT_WEIGHTS = Weights(embedding=1.0, ngrams=1.0, dense=0.3, ridge=1.0)


class Act(NamedTuple):
    name: str
    text: str


class Heard(NamedTuple):
    """One utterance as features."""

    vector: Floats
    sparse: Sparse
    dense: Floats
    """Cues, then the square roots of the acts' probabilities."""


class Ear:
    """Turns words into features. Built once per process; immutable."""

    def __init__(self, embed: Embed) -> None:
        self.embed = embed
        acts = read_acts()
        self.acts = tuple(dict.fromkeys(act.name for act in acts))
        texts = [act.text for act in acts]
        features = [text_features(text) for text in texts]
        self._head = fit(
            Rows(
                vectors=embed(texts),
                sparse=[sparse for sparse, _ in features],
                dense=np.stack([cues for _, cues in features]),
                labels=np.array([self.acts.index(act.name) for act in acts]),
                groups=np.arange(len(acts)),
                weight=np.ones(len(acts)),
            ),
            len(self.acts),
            ACT_WEIGHTS,
        ).head

    def hear(self, vector: Floats, text: str) -> Heard:
        """Features of a text whose embedding is known; without the text, what the embedding alone says."""
        sparse, cues = text_features(text)
        scores = self._head.scores(vector, sparse, cues)
        p = np.exp(scores - scores.max())
        acts = np.sqrt(p / p.sum())
        return Heard(vector, sparse, np.concatenate([cues, ACT_SHARE * acts]).astype(np.float32))

    def hear_all(self, texts: Sequence[str]) -> list[Heard]:
        return [self.hear(vector, text) for vector, text in zip(self.embed(texts), texts, strict=True)]


ACT_SHARE = 1.2
"""Weight of the acts beside the cues."""


def read_acts() -> list[Act]:
    """The shipped bank: `## act` headings, one utterance a line."""
    found: list[Act] = []
    name = ""
    for line in ACTS_FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            name = line[3:].strip()
        elif line and not line.startswith("#"):
            found.append(Act(name, line))
    return found

"""Words to features: the embedding, letters and cues, and which everyday speech act they sound like.

Speech acts are the same on every phone line ("hang on, I gave you the wrong one"), so they are learned once, from
`speech_acts.txt`, and their probabilities are features for each procedure's own states.
"""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cuecard.belief.features import Floats, Sparse, text_features
from cuecard.belief.head import Head, Rows, Weights, fit

Embed = Callable[[Sequence[str]], Floats]

ACTS_FILE = Path(__file__).with_name("speech_acts.txt")
TRAINED = ACTS_FILE.with_name("trained")
"""What was trained at build time, so that a start need not; `python -m evals.classify.train_shipped` renews it."""
ACT_WEIGHTS = Weights(embedding=1.0, ngrams=1.0, dense=0.3, ridge=1.0)
ACT_SHARE = 1.2
"""Weight of the acts beside the cues."""


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
    """Turns words into features. Immutable."""

    def __init__(self, embed: Embed, head: Head | None = None) -> None:
        self.embed = embed
        self._head = head or trained_head() or train(embed)

    def hear(self, vector: Floats, text: str) -> Heard:
        """Features of a text whose embedding is known; without the text, what the embedding alone says."""
        sparse, cues = text_features(text)
        scores = self._head.scores(vector, sparse, cues)
        p = np.exp(scores - scores.max())
        acts = np.sqrt(p / p.sum())
        return Heard(vector, sparse, np.concatenate([cues, ACT_SHARE * acts]).astype(np.float32))

    def hear_all(self, texts: Sequence[str]) -> list[Heard]:
        return [self.hear(vector, text) for vector, text in zip(self.embed(texts), texts, strict=True)]


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


def train(embed: Embed) -> Head:
    """The acts' head, from the bank: a few seconds of embedding."""
    acts = read_acts()
    names = list(dict.fromkeys(act.name for act in acts))
    features = [text_features(act.text) for act in acts]
    rows = Rows(
        vectors=embed([act.text for act in acts]),
        sparse=[sparse for sparse, _ in features],
        dense=np.stack([cues for _, cues in features]),
        labels=np.array([names.index(act.name) for act in acts]),
        groups=np.arange(len(acts)),
        weight=np.ones(len(acts)),
    )
    return fit(rows, len(names), ACT_WEIGHTS).head


def trained_head() -> Head | None:
    """The shipped head, unless the bank has changed since it was trained."""
    path = TRAINED / "ear.npz"
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as arrays:
        return Head.from_arrays(arrays) if str(arrays["trained_on"]) == fingerprint() else None


def fingerprint() -> str:
    """Changes with the bank, the features' code and the weights of the fit."""
    digest = hashlib.sha256(repr(ACT_WEIGHTS).encode())
    for path in (ACTS_FILE, *(ACTS_FILE.with_name(name) for name in ("words.py", "features.py", "head.py"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def write_trained(head: Head) -> None:
    np.savez_compressed(TRAINED / "ear.npz", trained_on=np.array(fingerprint()), **head.arrays())  # type: ignore[arg-type]

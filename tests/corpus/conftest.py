"""An embedder of words, so that these tests need no model: texts that share words are near."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

DIMENSIONS = 256


class WordEmbedder:
    """Hashes words into a vector of counts; remembers what it was asked to embed."""

    def __init__(self, seed: str = "") -> None:
        self.seed = seed
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.extend(texts)
        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"[a-z]+", text.lower()):
                row[int(hashlib.sha256((self.seed + word).encode()).hexdigest(), 16) % DIMENSIONS] += 1.0
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.maximum(norms, 1e-9), dtype=np.float32)


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()

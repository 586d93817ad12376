"""Remembers embeddings of texts that don't change between starts: examples, documents, speech acts."""

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cuecard.models.cache_folder import cache_folder
from cuecard.models.embeddings import DIM, Embedder, Matrix

_SMALLEST = 8
"""Fewer texts than this are embedded faster than a file is read."""


class CachedEmbedder:
    """The same vectors as `inner`, read from disk when this very list of texts was embedded before.

    `model` names the weights: other weights never meet old vectors. A folder that cannot be written only costs time.
    """

    def __init__(self, inner: Embedder, model: str, folder: Path | None = None) -> None:
        self._inner = inner
        self.model = model
        self._folder = folder or cache_folder("vectors")

    def embed(self, texts: Sequence[str]) -> Matrix:
        if len(texts) < _SMALLEST:
            return self._inner.embed(texts)
        path = self._folder / f"{self._key(texts)}.npy"
        try:
            known: Matrix = np.load(path)
        except (OSError, ValueError):
            known = np.empty((0, DIM), np.float32)
        if known.shape == (len(texts), DIM):
            return known
        made = self._inner.embed(texts)
        self._keep(path, made)
        return made

    def _key(self, texts: Sequence[str]) -> str:
        digest = hashlib.sha256(self.model.encode())
        for text in texts:
            digest.update(b"\x00" + text.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:40]

    def _keep(self, path: Path, vectors: Matrix) -> None:
        """Written aside and moved, so that a crash or a second process never leaves half a file."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
                np.save(file, vectors)
            Path(file.name).replace(path)
        except OSError:
            return

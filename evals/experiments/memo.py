"""Embeddings of one call kept while it is played under several policies: the same words cost once."""

from collections.abc import Sequence

from cuecard.models.embeddings import Embedder, Matrix


class Memo:
    """Wraps an embedder; `anew` embeds again although the answer is known, for the policy whose time is measured.

    Kept by whole batch: quantised vectors hang a little on what they are embedded with, and rows must not hang on which
    policy came first.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._known: dict[tuple[str, ...], Matrix] = {}
        self._call = ""
        self.anew = False

    def begin(self, call: str) -> None:
        """Another caller speaks: what the one before said is forgotten."""
        if call != self._call:
            self._call = call
            self._known.clear()

    def embed(self, texts: Sequence[str]) -> Matrix:
        key = tuple(texts)
        if self.anew or key not in self._known:
            self._known[key] = self._inner.embed(texts)
        return self._known[key]

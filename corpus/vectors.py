"""Which vector stands for a document (decision 0160)."""

import math
import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from corpus.documents import Document

Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]
"""Texts in, unit rows out: shape (n, dimensions)."""

WINDOW_WORDS = 80
"""A window with its title fits into the 128 word pieces that the embedder reads; words beyond them would not count."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def document_vectors(documents: Sequence[Document], embed: Embed) -> Vectors:
    """One unit row a document: the mean of its text's windows, each under the title, and of its approved sentence.

    The approved sentence is half of the mean: it says in a caller's words what the document is good for.
    """
    texts: list[str] = []
    spans: list[slice] = []
    for document in documents:
        start = len(texts)
        texts.extend(f"{document.title}. {window}" for window in windows(document.text))
        texts.append(document.answer)
        spans.append(slice(start, len(texts)))
    rows = embed(texts)
    means = [_mean(rows[span], spoken=bool(document.answer)) for span, document in zip(spans, documents, strict=True)]
    return _unit(np.stack(means))


def windows(text: str) -> Iterator[str]:
    """The text in pieces of about equal length, cut between sentences, none much longer than WINDOW_WORDS."""
    n_words = len(text.split())
    target = n_words / math.ceil(n_words / WINDOW_WORDS) if n_words else 0.0
    piece: list[str] = []
    for sentence in _SENTENCE_END.split(text):
        piece.append(sentence)
        if len(" ".join(piece).split()) >= target:
            yield " ".join(piece)
            piece = []
    if piece:
        yield " ".join(piece)


def _mean(rows: Vectors, *, spoken: bool) -> Vectors:
    text = _unit(rows[:-1].mean(axis=0))
    return text + rows[-1] if spoken else text


def _unit(rows: Vectors) -> Vectors:
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.maximum(length, 1e-9), dtype=np.float32)

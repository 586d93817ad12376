"""A passage in pieces, each embedded by itself: a caller asks about one sentence of it, not about the whole."""

import re

MOST_PIECES = 7
"""Pieces of one passage, beside the whole. Fewer and longer ones found less (docs/decisions/0150)."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


def pieces_of(title: str, text: str) -> list[str]:
    """The sentences of a passage, each under its title; neighbours joined where there are more than `MOST_PIECES`.

    Empty where the passage is a single sentence: the whole says it.
    """
    sentences = [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    if len(sentences) < 2:
        return []
    return [f"{title}. {piece}" if title else piece for piece in _joined(sentences)]


def _joined(sentences: list[str]) -> list[str]:
    """At most `MOST_PIECES` runs of neighbouring sentences, of about equally many words."""
    if len(sentences) <= MOST_PIECES:
        return sentences
    lengths = [len(sentence.split()) for sentence in sentences]
    share = sum(lengths) / MOST_PIECES
    runs: list[list[str]] = [[] for _ in range(MOST_PIECES)]
    before = 0
    for sentence, length in zip(sentences, lengths, strict=True):
        # A sentence belongs where its middle lies.
        runs[min(MOST_PIECES - 1, int((before + length / 2) / share))].append(sentence)
        before += length
    return [" ".join(run) for run in runs if run]

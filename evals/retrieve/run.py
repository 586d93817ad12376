"""The benchmark: every question against its corpus, asked live and asked from what was known a turn before."""

from pathlib import Path
from typing import Any

import numpy as np

from corpus import Embed, Index, Vectors, open_index
from evals.retrieve.questions import Question, Split, load_questions
from evals.retrieve.score import DEPTH, rank, summary

PREVIOUS_TURN_WEIGHT = 0.4
"""How much of the turn before is mixed into the live words (evidence.md, section 3)."""


def bench(corpus: str, embed: Embed, folder: Path | None, split: Split = "test") -> dict[str, Any]:
    """The scores of `live`, `before` and `live_with_before` on one corpus, and how many documents it has.

    `folder` keeps the index between runs; None builds it in memory. Questions of the fine and large corpora are
    generated, those of the others written by hand; none come from real callers.
    """
    index = open_index(corpus, embed, folder)
    try:
        return {"documents": len(index.documents), **_score(index, embed, load_questions(corpus, split))}
    finally:
        index.close()


def _score(index: Index, embed: Embed, questions: list[Question]) -> dict[str, Any]:
    live = embed([question.words for question in questions])
    before = embed([question.before for question in questions])
    mixed = live + PREVIOUS_TURN_WEIGHT * before
    queries: dict[str, Vectors] = {
        "live": live,
        "before": before,
        "live_with_before": mixed / np.linalg.norm(mixed, axis=1, keepdims=True),
    }
    return {name: summary(_ranks(index, vectors, questions)) for name, vectors in queries.items()}


def _ranks(index: Index, vectors: Vectors, questions: list[Question]) -> list[int]:
    return [
        rank([hit.doc_id for hit in index.search_now(vector=vector, k=DEPTH)], question.doc_ids)
        for vector, question in zip(vectors, questions, strict=True)
    ]

"""A corpus as vectors, and questions on it with the turn before them."""

import gzip
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson

from corpus import Document, load_corpus
from corpus.vectors import Embed, Vectors, document_vectors
from cuecard.pool import pieces_of
from evals.retrieve.questions import Split, load_questions

LEADING_WORDS = 12
"""What stands for the title of a passage that has none, or shares it with others."""


@dataclass(frozen=True)
class Library:
    """Documents, questions and everything embedded; golds are row numbers of documents."""

    name: str
    documents: Sequence[Document]
    vectors: Vectors
    titles: Vectors
    """Embedded titles: what a right guess of the predictor looks like."""
    pieces: Sequence[Vectors]
    """Embedded sentences of each document; no rows for one of a single sentence."""
    words: Sequence[str]
    """The questions as they were asked, and embedded."""
    questions: Vectors
    before: Vectors
    """The caller's turn before each question."""
    golds: Sequence[frozenset[int]]
    earlier: Vectors
    """Everything callers said before their questions, oldest first, one conversation after the other."""
    n_earlier: Sequence[int]
    """How much of that belongs to each question; 0 where the conversation is not known."""

    def nearest(self, queries: Vectors, k: int = 3) -> list[list[int]]:
        """Exact top k over everything, for each query, best first."""
        scores = queries @ self.vectors.T
        best = np.argpartition(-scores, k, axis=1)[:, :k]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1)
        return [[int(row) for row in rows] for rows in np.take_along_axis(best, order, axis=1)]

    @cached_property
    def by_title(self) -> list[list[int]]:
        """What a guess of each document's title fetches."""
        return self.nearest(self.titles)

    @cached_property
    def live(self) -> list[list[int]]:
        """What each question fetches from everything."""
        return self.nearest(self.questions)

    @cached_property
    def searched_earlier(self) -> list[list[list[int]]]:
        """By question: what each thing the caller had said before it fetched from everything."""
        found = iter(self.nearest(self.earlier) if len(self.earlier) else [])
        return [list(islice(found, n)) for n in self.n_earlier]


def shipped(name: str, split: Split, embed: Embed) -> Library:
    """One of the corpora that come with the product and their generated questions."""
    documents = load_corpus(name)
    asked = load_questions(name, split)
    texts = [Asked(q.words, q.previous_caller, q.doc_ids) for q in asked]
    return _library(name, documents, texts, embed)


def conversations(passages: Path, embed: Embed) -> Library:
    """MTRAG-UN passages from a path, with the questions of the conversations beside it (people's, no callers')."""
    rows = _rows(passages)
    documents = [Document(row["doc_id"], row["title"], row["entity"], row["text"].strip(), "") for row in rows]
    sessions = passages.with_name(passages.name.replace("_docs", ""))
    texts = [question for row in _rows(sessions) for question in _questions(row["turns"])]
    return _library(passages.name.split(".")[0], documents, texts, embed)


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path) as lines:
        return [orjson.loads(line) for line in lines]


class Asked(NamedTuple):
    """A question, the caller's turn before it, its gold documents, and all they had said in this conversation."""

    words: str
    before: str
    golds: frozenset[str]
    earlier: tuple[str, ...] = ()


def _questions(turns: Sequence[dict[str, Any]]) -> Iterator[Asked]:
    """Wherever an agent's answer names its documents."""
    for n, turn in enumerate(turns):
        if turn.get("doc_ids"):
            said = [earlier["text"] for earlier in turns[:n] if earlier["speaker"] == "user"]
            yield Asked(said[-1], said[-2] if len(said) > 1 else "", frozenset(turn["doc_ids"]), tuple(said[:-1]))


def _library(name: str, documents: Sequence[Document], texts: Sequence[Asked], embed: Embed) -> Library:
    rows = {document.id: row for row, document in enumerate(documents)}
    shared = Counter(document.title for document in documents)
    known = [asked for asked in texts if asked.golds & rows.keys()]
    earlier = [said for asked in known for said in asked.earlier]
    return Library(
        name,
        documents,
        document_vectors(documents, embed),
        embed([_title(document, shared[document.title]) for document in documents]),
        _pieces(documents, embed),
        [asked.words for asked in known],
        embed([asked.words for asked in known]),
        embed([asked.before for asked in known]),
        [frozenset(rows[doc_id] for doc_id in asked.golds if doc_id in rows) for asked in known],
        embed(earlier) if earlier else np.zeros((0, 384), np.float32),
        [len(asked.earlier) for asked in known],
    )


def _pieces(documents: Sequence[Document], embed: Embed) -> list[Vectors]:
    cut = [pieces_of(document.title, document.text) for document in documents]
    rows = iter(embed([piece for pieces in cut for piece in pieces]))
    return [np.array(list(islice(rows, len(pieces))), np.float32) for pieces in cut]


def _title(document: Document, shared_by: int) -> str:
    if document.title and shared_by == 1:
        return document.title
    return f"{document.title} {' '.join(document.text.split()[:LEADING_WORDS])}".strip()

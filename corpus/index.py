"""A corpus that can be searched: built once, searched off the event loop, rebuilt when documents or embedder change."""

import asyncio
import hashlib
import json
import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from corpus.documents import Document
from corpus.loader import load_corpus
from corpus.store import Plan, StoreUnusable, drop, in_memory, on_disk
from corpus.vectors import Embed, Vectors, document_vectors

_PROBE = "Could you tell me whether that is covered, please?"
_SCHEME = 1
"""Raised when `document_vectors` changes, so that older indexes are built again."""

log = logging.getLogger(__name__)


class Hit(NamedTuple):
    """One document found. `score` is the cosine between query and document."""

    doc_id: str
    title: str
    topic: str
    text: str
    answer: str
    score: float


class Index:
    """One corpus, ready to be searched. Made by `open_index`."""

    def __init__(self, name: str, documents: Sequence[Document], embed: Embed, folder: Path | None) -> None:
        self.name = name
        self.documents = {document.id: document for document in documents}
        self._embed = embed
        self._plan = Plan(name, _digest(documents), list(self.documents), embed([_PROBE])[0])
        self._persistent = folder is not None
        self._collection = self._in_memory() if folder is None else self._on_disk(folder)

    async def search(self, text: str | None = None, vector: Vectors | None = None, k: int = 3) -> list[Hit]:
        """The k best documents, best first; fewer when the corpus is smaller.

        Give the query's words, or its vector when it is embedded already. Runs in a thread: Chroma would hold the
        event loop for the length of a query.
        """
        return await asyncio.to_thread(self.search_now, text, vector, k)

    def search_now(self, text: str | None = None, vector: Vectors | None = None, k: int = 3) -> list[Hit]:
        """`search` for callers that have no event loop."""
        if (text is None) == (vector is None):
            raise ValueError("search: give either text or vector.")
        row = self._embed([text])[0] if text is not None else vector
        found = self._query(np.asarray(row, dtype=np.float32), min(k, len(self.documents)))
        pairs = zip(found["ids"][0], found["distances"][0], strict=True)
        return [self._hit(doc_id, 1.0 - float(distance)) for doc_id, distance in pairs]

    def close(self) -> None:
        """Forget a collection in memory; one on disk stays for the next process."""
        if not self._persistent:
            drop(self._collection)

    def _query(self, row: Vectors, k: int) -> Any:
        from chromadb.errors import NotFoundError

        try:
            return self._collection.query(query_embeddings=[row], n_results=k, include=["distances"])
        except NotFoundError:
            # Another process has seen newer documents and replaced the collection. This one answers from its own.
            log.warning("the stored index of %s was replaced; going on in memory", self.name)
            self._persistent, self._collection = False, self._in_memory()
            return self._collection.query(query_embeddings=[row], n_results=k, include=["distances"])

    def _on_disk(self, folder: Path) -> Any:
        """The stored collection. An index is only a cache, so one that can't be stored is kept in memory instead."""
        try:
            return on_disk(self._plan, folder, self._vectors)
        except StoreUnusable as error:
            log.warning("%s Going on in memory.", error)
            self._persistent = False
            return self._in_memory()

    def _in_memory(self) -> Any:
        return in_memory(self._plan, self._vectors())

    def _vectors(self) -> Vectors:
        log.info("indexing %d documents of %s", len(self.documents), self.name)
        return document_vectors(list(self.documents.values()), self._embed)

    def _hit(self, doc_id: str, score: float) -> Hit:
        document = self.documents[doc_id]
        return Hit(doc_id, document.title, document.topic, document.text, document.answer, score)


def open_index(name_or_path: str | Path, embed: Embed, folder: Path | None = None) -> Index:
    """The index of a corpus: read from `folder`, built there when it is missing or out of date, in memory for None.

    Blocks while it builds (10 to 60 ms a document with MiniLM on one core): call it at start-up or in a thread.
    Raises CorpusNotFound and CorpusInvalid; a folder that can't be used costs a warning and the time to build.
    """
    return Index(_label(name_or_path), load_corpus(name_or_path), embed, folder)


def _digest(documents: Sequence[Document]) -> str:
    payload = json.dumps([_SCHEME, *(list(document) for document in documents)], ensure_ascii=False)
    return hashlib.sha256(payload.encode()).hexdigest()[:16]


def _label(name_or_path: str | Path) -> str:
    """A name that Chroma takes, different for different folders that end in the same word."""
    text = str(name_or_path)
    if re.fullmatch(r"[a-z][a-z0-9_]{2,40}", text):
        return text
    path = Path(name_or_path).expanduser().resolve()
    stem = re.sub(r"[^a-zA-Z0-9]+", "_", path.name).strip("_")[:40] or "corpus"
    return f"{stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"

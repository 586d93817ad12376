"""A corpus in Chroma: built once, searched off the event loop, rebuilt only when documents or embedder change."""

import asyncio
import hashlib
import json
import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from corpus.documents import Document
from corpus.loader import load_corpus
from corpus.vectors import Embed, Vectors, document_vectors

_PROBE = "Could you tell me whether that is covered, please?"
"""Embedded at opening and compared with the stored vector: another model, or other weights, give another vector."""
_SAME_EMBEDDER_COSINE = 0.999
_BATCH = 64
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

    def __init__(self, name: str, documents: Sequence[Document], embed: Embed, client: Any, collection: Any) -> None:
        self.name = name
        self.documents = {document.id: document for document in documents}
        self._embed = embed
        self._client = client
        self._collection = collection

    async def search(self, text: str | None = None, vector: Vectors | None = None, k: int = 3) -> list[Hit]:
        """The k best documents, best first; fewer when the corpus is smaller.

        Give the query's words, or its vector when it is embedded already. Runs in a thread: Chroma would hold the
        event loop for the length of a query.
        """
        if (text is None) == (vector is None):
            raise ValueError("search: give either text or vector.")
        return await asyncio.to_thread(self.search_now, text, vector, k)

    def search_now(self, text: str | None, vector: Vectors | None, k: int) -> list[Hit]:
        """`search` for callers that have no event loop."""
        row = self._embed([text])[0] if text is not None else vector
        found = self._collection.query(
            query_embeddings=[np.asarray(row, dtype=np.float32)],
            n_results=min(k, len(self.documents)),
            include=["distances"],
        )
        pairs = zip(found["ids"][0], found["distances"][0], strict=True)
        return [self._hit(doc_id, 1.0 - float(distance)) for doc_id, distance in pairs]

    def close(self) -> None:
        """Forget an ephemeral collection; one on disk stays for the next process."""
        if self._collection.metadata.get("ephemeral"):
            self._client.delete_collection(self._collection.name)

    def _hit(self, doc_id: str, score: float) -> Hit:
        document = self.documents[doc_id]
        return Hit(doc_id, document.title, document.topic, document.text, document.answer, score)


def open_index(name_or_path: str | Path, embed: Embed, folder: Path | None = None) -> Index:
    """The index of a corpus: read from `folder`, built there when it is missing or out of date, in memory for None.

    Blocks while it builds (10 to 60 ms a document with MiniLM on one core): call it at start-up or in a thread.
    Raises CorpusNotFound and CorpusInvalid.
    """
    documents = load_corpus(name_or_path)
    label = _label(name_or_path)
    probe = embed([_PROBE])[0]
    if folder is None:
        client, name = _client(None), f"{label}-{uuid4().hex[:12]}"
        collection = _build(client, name, documents, embed, probe, ephemeral=True)
    else:
        client, name = _client(folder), f"{label}-{_digest(documents)}"
        collection = _reuse(client, name, len(documents), probe)
        if collection is None:
            _forget(client, label)
            collection = _build(client, name, documents, embed, probe, ephemeral=False)
    return Index(label, documents, embed, client, collection)


def _client(folder: Path | None) -> Any:
    import chromadb

    settings = chromadb.Settings(anonymized_telemetry=False)
    if folder is None:
        return chromadb.EphemeralClient(settings=settings)
    folder.mkdir(parents=True, exist_ok=True)
    return chromadb.PersistentClient(path=str(folder), settings=settings)


def _reuse(client: Any, name: str, n_documents: int, probe: Vectors) -> Any:
    """The stored collection if it is complete and was made by the same embedder, else None."""
    from chromadb.errors import NotFoundError

    try:
        collection = client.get_collection(name, embedding_function=None)
    except NotFoundError:
        return None
    stored = np.asarray(json.loads(collection.metadata.get("probe", "[]")), dtype=np.float32)
    same = stored.shape == probe.shape and float(stored @ probe) >= _SAME_EMBEDDER_COSINE
    return collection if same and collection.count() == n_documents else None


def _build(
    client: Any, name: str, documents: Sequence[Document], embed: Embed, probe: Vectors, *, ephemeral: bool
) -> Any:
    """A collection holding every document. Upserts, so that two processes building at once end with the same one."""
    log.info("indexing %d documents as %s", len(documents), name)
    collection = client.get_or_create_collection(
        name,
        configuration={"hnsw": {"space": "cosine", "ef_search": 200}},
        metadata={"probe": json.dumps([round(float(x), 6) for x in probe]), "ephemeral": ephemeral},
        embedding_function=None,
    )
    for start in range(0, len(documents), _BATCH):
        batch = documents[start : start + _BATCH]
        collection.upsert(
            ids=[document.id for document in batch],
            embeddings=document_vectors(batch, embed),
        )
    return collection


def _forget(client: Any, label: str) -> None:
    """Drop what earlier versions of this corpus left behind."""
    for old in client.list_collections():
        if old.name.rpartition("-")[0] == label:
            client.delete_collection(old.name)


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

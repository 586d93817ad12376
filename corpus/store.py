"""Where vectors are kept: Chroma collections in memory or in a folder that several threads and processes may share."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from corpus.vectors import Vectors

SAME_EMBEDDER_COSINE = 0.999
LOCK_TIMEOUT_S = 30.0
_BATCH = 500

_clients: dict[Path | None, Any] = {}
_clients_lock = threading.RLock()


class StoreUnusable(OSError):
    """The folder's database can't be opened, read or written; the message says why."""


class Plan(NamedTuple):
    """What a collection must hold to be the one that is wanted."""

    label: str
    """The corpus; an older collection of the same label is out of date."""
    digest: str
    """Of its documents."""
    ids: Sequence[str]
    probe: Vectors
    """A fixed sentence as the embedder sees it: other weights give another vector, and then another collection."""

    @property
    def name(self) -> str:
        return f"{self.label}-{self.digest}"


def in_memory(plan: Plan, vectors: Vectors) -> Any:
    """A collection of this process, never shared."""
    with _clients_lock:
        return _write(_client(None), f"{plan.label}-{uuid4().hex[:12]}", plan, vectors)


def on_disk(plan: Plan, folder: Path, vectors: Callable[[], Vectors]) -> Any:
    """The folder's collection for this plan, written first if it isn't there. `vectors` is asked only then.

    The slow part, embedding, is done without the lock. Raises StoreUnusable.
    """
    with _exclusively(folder) as client:
        found = _find(client, plan)
    if found is not None:
        return found
    rows = vectors()
    with _exclusively(folder) as client:
        found = _find(client, plan)
        if found is not None:  # Somebody else was quicker.
            return found
        for old in client.list_collections():
            if old.name.rpartition("-")[0] == plan.label:
                client.delete_collection(old.name)
        return _write(client, plan.name, plan, rows)


def drop(collection: Any) -> None:
    """Forget a collection made by `in_memory`."""
    with _clients_lock:
        _client(None).delete_collection(collection.name)


@contextmanager
def _exclusively(folder: Path) -> Iterator[Any]:
    """The folder's client, while no other thread or process uses it to look or write (searching needs no lock)."""
    from chromadb.errors import ChromaError
    from filelock import FileLock

    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Timeout is an OSError too. ValueError is how Chroma reports a database that it can't open.
        with _clients_lock, FileLock(folder / "chroma.lock", timeout=LOCK_TIMEOUT_S):
            yield _client(folder.resolve())
    except (OSError, ChromaError, ValueError) as error:
        raise StoreUnusable(f"{folder}: the stored index can't be used ({error}). Delete this folder.") from error


def _client(folder: Path | None) -> Any:
    """One client a folder and process: Chroma's own cache of them is not safe across threads."""
    if folder not in _clients:
        import chromadb

        settings = chromadb.Settings(anonymized_telemetry=False)
        if folder is None:
            _clients[folder] = chromadb.EphemeralClient(settings=settings)
        else:
            _clients[folder] = chromadb.PersistentClient(path=str(folder), settings=settings)
    return _clients[folder]


def _find(client: Any, plan: Plan) -> Any:
    """The stored collection if it is complete and was made by the same embedder, else None."""
    from chromadb.errors import NotFoundError

    try:
        collection = client.get_collection(plan.name, embedding_function=None)
    except NotFoundError:
        return None
    stored = np.asarray(json.loads(collection.metadata.get("probe", "[]")), dtype=np.float32)
    same = stored.shape == plan.probe.shape and float(stored @ plan.probe) >= SAME_EMBEDDER_COSINE
    return collection if same and collection.count() == len(plan.ids) else None


def _write(client: Any, name: str, plan: Plan, vectors: Vectors) -> Any:
    collection = client.create_collection(
        name,
        configuration={"hnsw": {"space": "cosine", "ef_search": 200}},
        metadata={"probe": json.dumps([round(float(x), 6) for x in plan.probe])},
        embedding_function=None,
    )
    for start in range(0, len(plan.ids), _BATCH):
        part = slice(start, start + _BATCH)
        collection.add(ids=list(plan.ids[part]), embeddings=vectors[part])
    return collection

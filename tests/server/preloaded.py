"""What every forked gateway would otherwise import and fit for itself. Imported by the fork server only."""

import importlib

from cuecard.kit import _classifier
from cuecard.models.embeddings import load_embedder, weights_name
from cuecard.models.vector_cache import CachedEmbedder
from sops.loader import find, load_procedure
from tests.server import forked

for name in (
    "anyio._backends._asyncio",
    "chromadb",
    "langchain_openai",
    "langgraph.checkpoint.postgres.aio",
    "langgraph.store.postgres.aio",
    "psycopg_pool",
    "sqlalchemy.dialects.postgresql.psycopg",
    "tiktoken",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
):
    importlib.import_module(name)

_classifier(
    load_procedure(forked.PROCEDURE),
    find(forked.PROCEDURE),
    CachedEmbedder(load_embedder(None), weights_name(None)),
)

"""What every forked gateway would otherwise import and fit for itself. Imported by the fork server only."""

import chromadb

from cuecard.kit import _classifier
from cuecard.models.embeddings import load_embedder, weights_name
from cuecard.models.vector_cache import CachedEmbedder
from sops.loader import find, load_procedure
from tests.server import forked

__all__ = ["chromadb"]

_classifier(
    load_procedure(forked.PROCEDURE),
    find(forked.PROCEDURE),
    CachedEmbedder(load_embedder(None), weights_name(None)),
)

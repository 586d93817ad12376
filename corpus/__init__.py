"""Documents that answer callers' questions, and the index that finds them."""

from corpus.documents import CorpusInvalid, CorpusNotFound, Document
from corpus.index import Hit, Index, open_index
from corpus.loader import load_corpus, names
from corpus.vectors import Embed, Vectors

__all__ = [
    "CorpusInvalid",
    "CorpusNotFound",
    "Document",
    "Embed",
    "Hit",
    "Index",
    "Vectors",
    "load_corpus",
    "names",
    "open_index",
]

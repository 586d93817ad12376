"""Data sources by type; a procedure names them, the broker calls them."""

import random
from collections.abc import Callable

from cuecard.clock import Clock
from cuecard.prefetch.fetchers.base import Fetcher, Fetchers, TransientFetchError
from cuecard.prefetch.fetchers.callable import CallableFetcher
from cuecard.prefetch.fetchers.rag import CorpusIndex, RagFetcher
from cuecard.prefetch.fetchers.table import TableFetcher, Tables

__all__ = [
    "CallableFetcher",
    "CorpusIndex",
    "Fetcher",
    "Fetchers",
    "RagFetcher",
    "TableFetcher",
    "Tables",
    "TransientFetchError",
    "default_fetchers",
]


def default_fetchers(
    tables: Tables, open_index: Callable[[str], CorpusIndex], clock: Clock, rng: random.Random
) -> dict[str, Fetcher]:
    """Every type a procedure can name. Nothing is opened or connected before the first fetch that needs it."""
    return {
        "table": TableFetcher(tables, clock, rng),
        "rag": RagFetcher(open_index, clock, rng),
        "python": CallableFetcher(),
    }

"""Data sources by type; a procedure names them, the broker calls them."""

import random
from collections.abc import Callable

from cuecard.clock import Clock
from cuecard.prefetch.fetchers.base import Fetcher, Fetchers, TransientFetchError
from cuecard.prefetch.fetchers.callable import CallableFetcher
from cuecard.prefetch.fetchers.http import HttpFetcher
from cuecard.prefetch.fetchers.rag import CorpusIndex, RagFetcher
from cuecard.prefetch.fetchers.sql import SqlFetcher
from cuecard.prefetch.fetchers.table import TableFetcher, Tables
from cuecard.prefetch.fetchers.tools import LangchainFetcher, McpFetcher, OpenapiFetcher

__all__ = [
    "CallableFetcher",
    "CorpusIndex",
    "Fetcher",
    "Fetchers",
    "HttpFetcher",
    "LangchainFetcher",
    "McpFetcher",
    "OpenapiFetcher",
    "RagFetcher",
    "SqlFetcher",
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
        "http": HttpFetcher(),
        "sql": SqlFetcher(),
        "langchain": LangchainFetcher(),
        "mcp": McpFetcher(),
        "openapi": OpenapiFetcher(),
    }

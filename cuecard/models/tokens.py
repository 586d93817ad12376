"""Counts tokens for prompt budgets, exactly where tiktoken's tables are on disk and by estimate elsewhere."""

import os
import tempfile
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha1
from pathlib import Path

Count = Callable[[str], int]

_ENCODING = "o200k_base"
# The name under which tiktoken caches this table: sha1 of its address (tiktoken/load.py).
_TABLE = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"


def _cached_table() -> Path:
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    base = Path(folder) if folder else Path(tempfile.gettempdir()) / "data-gym-cache"
    return base / sha1(_TABLE.encode(), usedforsecurity=False).hexdigest()


def estimate(text: str) -> int:
    """About four characters a token for English, rounded up so that a budget errs on the short side."""
    return len(text) // 4 + 1


@lru_cache(maxsize=1)
def counter() -> Count:
    """tiktoken's count where its table is already on disk, else `estimate`: a turn must never start a download."""
    if not _cached_table().is_file():
        return estimate
    import tiktoken

    encoding = tiktoken.get_encoding(_ENCODING)
    return lambda text: len(encoding.encode(text, disallowed_special=()))

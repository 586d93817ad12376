"""Where what can be made again is kept between starts."""

import os
from pathlib import Path


def cache_folder(what: str) -> Path:
    """The user's cache folder for Cuecard's `what`; safe to delete at any time."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "cuecard" / what

"""What training needs beside the product, asked for before anything slow begins."""

from importlib.util import find_spec

from cuecard.errors import CuecardError

NEEDED = ("scipy",)


def require_training() -> None:
    """Pass where training can run; CuecardError names what is missing and how to get it."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise CuecardError(f"Training needs {' and '.join(missing)}: pip install 'cuecard[train]'.")

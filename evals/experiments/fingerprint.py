"""Which code a run was made with: a digest of every file that can change a result."""

import hashlib
from collections.abc import Container, Iterable
from functools import lru_cache
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_PARTS = (
    "cuecard",
    "graphs",
    "nodes",
    "prompts",
    "sops",
    "corpus",
    "evals/calls",
    "evals/callers",
    "evals/datasets/retrieve",
)
_PLAYERS = ("evals/experiments/shared", "evals/real", "evals/poolbench")
"""What several experiments play with, beside their own folder."""
_KINDS = {".py", ".yaml", ".md", ".jsonl", ".json", ".npz", ".txt"}
_NO_MATTER = ("cuecard/cli", "cuecard/server")


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """Twelve letters; the same for the same files. Fronts are left out: they change no figure."""
    return _digest(_PARTS)


@lru_cache(maxsize=32)
def player_fingerprint(experiment: str) -> str:
    """The same of the files that play one experiment: other files may write other rows."""
    return _digest((f"evals/experiments/e{int(experiment[1:]):02d}", *_PLAYERS), {".py"})


def _digest(parts: Iterable[str], kinds: Container[str] = frozenset(_KINDS)) -> str:
    digest = hashlib.sha256()
    for part in parts:
        for path in sorted((_ROOT / part).rglob("*")):
            name = path.relative_to(_ROOT).as_posix()
            if path.suffix in kinds and not name.startswith(_NO_MATTER):
                digest.update(name.encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:12]

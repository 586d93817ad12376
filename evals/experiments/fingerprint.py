"""Which code a run was made with: a digest of every file that can change a result."""

import hashlib
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
_KINDS = {".py", ".yaml", ".md", ".jsonl", ".json", ".npz", ".txt"}
_NO_MATTER = ("cuecard/cli", "cuecard/server")


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """Twelve letters; the same for the same files. Fronts are left out: they change no figure."""
    digest = hashlib.sha256()
    for part in _PARTS:
        for path in sorted((_ROOT / part).rglob("*")):
            name = path.relative_to(_ROOT).as_posix()
            if path.suffix in _KINDS and not name.startswith(_NO_MATTER):
                digest.update(name.encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:12]

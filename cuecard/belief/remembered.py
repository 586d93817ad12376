"""Trained heads kept between starts, by a hash of all that they were learned from."""

import hashlib
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cuecard.belief.ear import TRAINED, Ear, Embed, fingerprint
from cuecard.belief.features import Floats
from cuecard.belief.head import Head
from cuecard.belief.lessons import Heads, train_heads
from sops.models import Procedure

_KEPT = 16
_recent: dict[str, Heads] = {}
"""The last few trained in this process; the same lessons give the same heads, so sharing them is safe."""


def heads_for(procedure: Procedure, embed: Embed, folder: Path | None) -> Heads:
    """From memory, from what is shipped, from `folder`, or trained now and kept there."""
    key = heads_key(procedure, embed)
    heads = _recent.get(key) or _read(shipped_path(procedure), key)
    if heads is None:
        path = folder / f"heads-{procedure.name}-{key[:16]}.npz" if folder is not None else None
        heads = _read(path, key) if path is not None else None
        if heads is None:
            heads = train_heads(procedure, Ear(each_once(embed)))
            if path is not None:
                write_heads(path, heads, key)
    while len(_recent) >= _KEPT:
        _recent.pop(next(iter(_recent)))
    _recent[key] = heads
    return heads


def forget() -> None:
    """Drop what this process remembers; files stay."""
    _recent.clear()


def shipped_path(procedure: Procedure) -> Path:
    return TRAINED / f"{procedure.name}.npz"


def heads_key(procedure: Procedure, embed: Embed) -> str:
    """Changes with the lessons, with the code that learns, and with the embedding model (by how it sees one word)."""
    digest = hashlib.sha256(fingerprint().encode())
    for name in ("lessons.py", "garbled.py", "ear.py"):
        digest.update(Path(__file__).with_name(name).read_bytes())
    for name, state in procedure.states.items():
        digest.update(repr((name, state.description, state.examples)).encode())
    for name, cohort in procedure.cohorts.items():
        moods = [(mood, said.description, said.examples) for mood, said in cohort.moods.items()]
        digest.update(repr((name, cohort.description, cohort.examples, moods)).encode())
    digest.update(np.round(embed(["hello"]), 3).astype(np.float32).tobytes())
    return digest.hexdigest()


def each_once(embed: Embed) -> Embed:
    """The same sentence is embedded once, however many heads learn from it."""
    known: dict[str, Floats] = {}

    def embed_new(texts: Sequence[str]) -> Floats:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, embed(new), strict=True))
        return np.stack([known[text] for text in texts]) if texts else embed(texts)

    return embed_new


def _read(path: Path, key: str) -> Heads | None:
    """None when there is none, when it was learned from something else, or when the file is not whole."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            if str(kept["key"]) != key:
                return None
            parts = [
                Head.from_arrays(
                    {name.partition("/")[2]: kept[name] for name in kept.files if name.startswith(f"{part}/")}
                )
                for part in Heads._fields
            ]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return None
    return Heads(*parts)


def write_heads(path: Path, heads: Heads, key: str) -> None:
    """In one step, so that two processes that start together never read half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f"{path.stem}.{os.getpid()}.part.npz")
    arrays = {f"{part}/{name}": a for part, head in heads._asdict().items() for name, a in head.arrays().items()}
    np.savez_compressed(half, key=np.array(key), **arrays)
    half.replace(path)

"""Adds embeddings to recorded turns, cached on disk: forty thousand sentences take minutes and do not change."""

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from cuecard.models.cache_folder import cache_folder
from cuecard.models.embeddings import DIM, Embedder, Matrix
from cuecard.predictors.features import typed
from cuecard.predictors.types import TurnView

_BATCH = 256


def cache_file(weights: str) -> Path:
    """Where vectors of these weights are kept between runs: digests of the sentences, never their words."""
    return cache_folder("vectors") / f"sentences-{hashlib.sha256(weights.encode()).hexdigest()[:12]}.npz"


def with_embeddings(
    sessions: Sequence[tuple[TurnView, ...]],
    embedder: Embedder,
    cache: Path | None,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> list[tuple[TurnView, ...]]:
    """The same sessions, each turn with what the learned predictor reads. `advance(done, total)` counts sentences."""
    wanted = {turn.utterance for turns in sessions for turn in turns if turn.utterance}
    wanted |= {turn.reply for turns in sessions for turn in turns if turn.reply and typed(turn)}
    vectors = _vectors(sorted(wanted, key=lambda text: (len(text), text)), embedder, cache, advance)
    return [
        tuple(
            turn._replace(
                embedding=vectors.get(turn.utterance),
                reply_embedding=vectors.get(turn.reply) if typed(turn) else None,
            )
            for turn in turns
        )
        for turns in sessions
    ]


def _vectors(
    sentences: list[str], embedder: Embedder, cache: Path | None, advance: Callable[[int, int], None]
) -> dict[str, Matrix]:
    names = [hashlib.blake2b(text.encode(), digest_size=12).hexdigest() for text in sentences]
    known = _read(cache)
    missing = [index for index, name in enumerate(names) if name not in known]
    for start in range(0, len(missing), _BATCH):
        part = missing[start : start + _BATCH]
        for index, vector in zip(part, embedder.embed([sentences[i] for i in part]), strict=True):
            known[names[index]] = vector.astype(np.float16)
        advance(start + len(part), len(missing))
    if missing and cache is not None:
        _write(cache, known)
    return {text: known[name].astype(np.float32) for text, name in zip(sentences, names, strict=True)}


def _read(cache: Path | None) -> dict[str, Matrix]:
    if cache is None or not cache.is_file():
        return {}
    try:
        with np.load(cache) as stored:
            return dict(zip(stored["names"].tolist(), stored["vectors"], strict=True))
    except (OSError, ValueError, KeyError):
        # A cache that cannot be read is as good as none; it is written anew.
        return {}


def _write(cache: Path, known: dict[str, Matrix]) -> None:
    cache.parent.mkdir(parents=True, exist_ok=True)
    unfinished = cache.with_name(f"{cache.stem}.{os.getpid()}.npz")
    vectors = np.stack(list(known.values())) if known else np.zeros((0, DIM), np.float16)
    np.savez(unfinished, names=np.array(list(known), dtype="U24"), vectors=vectors)
    os.replace(unfinished, cache)

"""Recall@k and mean reciprocal rank, with bootstrap intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np

DEPTH = 10
"""How far down the ranking is read; a gold document below that has reciprocal rank 0."""
N_RESAMPLES = 2_000


def rank(found: Sequence[str], gold: frozenset[str]) -> int:
    """Place of the first gold document, from 1; 0 when none was found."""
    return next((place for place, doc_id in enumerate(found, start=1) if doc_id in gold), 0)


def summary(ranks: Sequence[int], seed: int = 0) -> dict[str, Any]:
    """`recall@1`, `recall@3` and `mrr` over questions, each with its 95 % interval, and n."""
    places = np.asarray(ranks)
    measures = {
        "recall@1": (places == 1).astype(float),
        "recall@3": ((places >= 1) & (places <= 3)).astype(float),
        "mrr": np.where(places > 0, 1.0 / np.maximum(places, 1), 0.0),
    }
    rows = np.random.default_rng(seed).integers(0, len(places), size=(N_RESAMPLES, len(places)))
    out: dict[str, Any] = {"n": len(places)}
    for name, values in measures.items():
        low, high = np.percentile(values[rows].mean(axis=1), [2.5, 97.5])
        out[name] = round(float(values.mean()), 3)
        out[f"{name}_ci95"] = [round(float(low), 3), round(float(high), 3)]
    return out

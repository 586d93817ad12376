"""A small classifier over mixed features, trained in closed form in well under a second.

Kernel ridge regression on one-hot targets: its held-out predictions are exact and free (no refits), so the temperature
that turns scores into probabilities is set on examples the fit has not seen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cuecard.belief.features import BUCKETS, Floats, Sparse

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MAX_TEMPERATURE = 1.0
MIN_TEMPERATURE = 0.02
SHARPNESS = 2.0
"""How fast nearness falls with the cosine: 1 at the same sentence, 0.14 at an unrelated one."""
LANDMARKS = 4000
"""Examples that a head keeps; with more, what they say together is spread over these. A third of 2,600 lost a point."""
_LANDMARK_SCALE = 256.0
"""Landmarks are kept as bytes: an element of a unit vector of 384 is below a half."""


class Weights(NamedTuple):
    """How much each view of an utterance counts in the kernel, and how stiff the fit is."""

    embedding: float = 1.0
    near: float = 0.0
    """Of likeness that falls off with distance: what an example says counts for its neighbours, not along a line."""
    ngrams: float = 0.6
    dense: float = 0.25
    ridge: float = 0.3


class Rows(NamedTuple):
    """Training texts as features. Rows of one `group` are held out together: an example and its noisy copies."""

    vectors: Floats
    sparse: Sequence[Sparse]
    dense: Floats
    labels: Ints
    groups: Ints
    weight: Doubles
    """Trust in a row; a description counts less than an example."""


@dataclass(frozen=True, slots=True)
class Head:
    """Scores of the classes for one utterance: a few small matrix products."""

    landmarks: Floats
    """Embeddings of examples, at most LANDMARKS; none when nearness does not count."""
    near_weights: Floats
    vector_weights: Floats
    ngram_weights: Floats
    dense_weights: Floats
    bias: Floats
    mean: Floats
    idf: Floats
    temperature: float

    def scores(self, vector: Floats, sparse: Sparse, dense: Floats) -> Floats:
        """Class scores divided by the temperature: log-probabilities up to a constant."""
        buckets, value = _scaled(sparse, self.idf)
        raw = (vector - self.mean) @ self.vector_weights + dense @ self.dense_weights + self.bias
        if len(buckets):
            raw = raw + value @ self.ngram_weights[buckets]
        if len(self.landmarks):
            raw = raw + nearness(self.landmarks @ vector) @ self.near_weights
        scaled: Floats = raw / self.temperature
        return scaled

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """What `from_arrays` takes back; half precision is plenty for weights, a byte for landmarks."""
        halves = {name: getattr(self, name).astype(np.float16) for name in _ARRAYS}
        bytes_ = np.clip(np.round(self.landmarks * _LANDMARK_SCALE), -127, 127).astype(np.int8)
        return {**halves, "landmarks": bytes_, "temperature": np.array(self.temperature)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[np.generic]]) -> "Head":
        """Raises KeyError when one is missing."""
        floats = {name: arrays[name].astype(np.float32) for name in _ARRAYS}
        landmarks = arrays["landmarks"].astype(np.float32) / np.float32(_LANDMARK_SCALE)
        return cls(**floats, landmarks=landmarks, temperature=float(arrays["temperature"]))


_ARRAYS = ("near_weights", "vector_weights", "ngram_weights", "dense_weights", "bias", "mean", "idf")


class Fitted(NamedTuple):
    head: Head
    held_out: Doubles
    """Scores (already divided by the temperature) of every row by a fit without its group."""


def fit(rows: Rows, n_classes: int, weights: Weights) -> Fitted:
    """The head and its exact held-out scores."""
    mean = rows.vectors.mean(axis=0) * MEAN_SHARE
    idf = _idf(rows.sparse)
    vectors = (rows.vectors - mean).astype(np.float32)
    grams = _dense_grams(rows.sparse, idf)
    kernel = (
        weights.embedding**2 * (vectors @ vectors.T)
        + weights.near**2 * nearness(rows.vectors @ rows.vectors.T)
        + weights.ngrams**2 * grams.product
        + weights.dense**2 * (rows.dense @ rows.dense.T)
        + 1.0
    ).astype(np.float64)
    targets = np.eye(n_classes)[rows.labels]
    per_class = np.bincount(rows.labels, weights=rows.weight, minlength=n_classes)
    trust = rows.weight * np.sqrt(per_class.mean() / np.maximum(per_class[rows.labels], 1e-9))
    inverse = np.linalg.inv(kernel + np.diag(weights.ridge / trust))
    alpha = inverse @ targets
    held_out = _leave_group_out(inverse, alpha, targets, rows.groups)
    temperature = calibrate(held_out, rows.labels, rows.weight)
    alpha32 = alpha.astype(np.float32)
    landmarks = _landmarks(rows) if weights.near else rows.vectors[:0]
    head = Head(
        landmarks=landmarks,
        near_weights=weights.near**2 * _spread(landmarks, rows.vectors, alpha),
        vector_weights=weights.embedding**2 * (vectors.T @ alpha32),
        ngram_weights=weights.ngrams**2 * grams.back(alpha32),
        dense_weights=weights.dense**2 * (rows.dense.T @ alpha32),
        bias=alpha32.sum(axis=0),
        mean=mean.astype(np.float32),
        idf=idf,
        temperature=temperature,
    )
    return Fitted(head, held_out / temperature)


def nearness(cosine: Floats) -> Floats:
    """A Gaussian of the distance between two unit vectors with this cosine."""
    out: Floats = np.exp(SHARPNESS * (cosine - 1.0))
    return out


def _landmarks(rows: Rows) -> Floats:
    """The whole examples, or LANDMARKS of them drawn with a fixed seed."""
    whole = np.flatnonzero(rows.weight >= rows.weight.max())
    if len(whole) > LANDMARKS:
        whole = np.sort(np.random.default_rng(0).choice(whole, LANDMARKS, replace=False))
    return rows.vectors[whole]


def _spread(landmarks: Floats, vectors: Floats, alpha: Doubles) -> Floats:
    """Weights on the landmarks whose sum is nearest to that of `alpha` on all rows."""
    if not len(landmarks):
        return np.zeros((0, alpha.shape[1]), np.float32)
    among = nearness(landmarks @ landmarks.T).astype(np.float64) + 1e-3 * np.eye(len(landmarks))
    out: Floats = np.linalg.solve(among, nearness(landmarks @ vectors.T) @ alpha).astype(np.float32)
    return out


MEAN_SHARE = 0.7
"""Part of the mean embedding that is taken away: what all callers of one procedure talk about says nothing."""


def _leave_group_out(inverse: Doubles, alpha: Doubles, targets: Doubles, groups: Ints) -> Doubles:
    """What each row would score had its group not been trained on (block inverse identity)."""
    out = np.empty_like(targets)
    order = np.argsort(groups, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        block = inverse[np.ix_(members, members)]
        out[members] = targets[members] - np.linalg.solve(block, alpha[members])
    return out


def calibrate(scores: Doubles, labels: Ints, weight: Doubles) -> float:
    """The temperature with the least held-out log loss, by golden-section search."""
    low, high = np.log(MIN_TEMPERATURE), np.log(MAX_TEMPERATURE)
    golden = (np.sqrt(5.0) - 1.0) / 2.0

    def loss(log_t: float) -> float:
        logits = scores / np.exp(log_t)
        picked = logits[np.arange(len(labels)), labels]
        return float(np.average(log_sum_exp(logits) - picked, weights=weight))

    for _ in range(40):
        a, b = high - golden * (high - low), low + golden * (high - low)
        if loss(a) < loss(b):
            high = b
        else:
            low = a
    return float(np.exp((low + high) / 2.0))


def log_sum_exp(logits: Doubles) -> Doubles:
    """Row-wise, without overflow."""
    peak = logits.max(axis=-1, keepdims=True)
    out: Doubles = (np.log(np.exp(logits - peak).sum(axis=-1, keepdims=True)) + peak).squeeze(-1)
    return out


def _idf(sparse: Sequence[Sparse]) -> Floats:
    seen = np.zeros(BUCKETS, np.float32)
    for row in sparse:
        seen[row.buckets] += 1.0
    out: Floats = np.log((1.0 + len(sparse)) / (1.0 + seen)).astype(np.float32)
    return out


def _scaled(row: Sparse, idf: Floats) -> Sparse:
    """Rare grams count more; every text has length 1."""
    value = row.value * idf[row.buckets]
    norm = float(np.sqrt(value @ value))
    return Sparse(row.buckets, value / norm if norm > 0.0 else value)


class _Grams(NamedTuple):
    """The n-gram rows restricted to buckets that occur, so that the product stays small."""

    matrix: Floats
    buckets: Ints

    @property
    def product(self) -> Floats:
        return self.matrix @ self.matrix.T

    def back(self, alpha: Floats) -> Floats:
        out = np.zeros((BUCKETS, alpha.shape[1]), np.float32)
        out[self.buckets] = self.matrix.T @ alpha
        return out


def _dense_grams(sparse: Sequence[Sparse], idf: Floats) -> _Grams:
    buckets = np.unique(np.concatenate([row.buckets for row in sparse]))
    column = np.full(BUCKETS, -1, np.int64)
    column[buckets] = np.arange(len(buckets))
    matrix = np.zeros((len(sparse), len(buckets)), np.float32)
    for i, row in enumerate(sparse):
        scaled = _scaled(row, idf)
        matrix[i, column[scaled.buckets]] = scaled.value
    return _Grams(matrix, buckets)

"""The learned predictor's network: a bag of marks and three embeddings in, one softmax per head and offset out.

Gradients are written out: most of the work is one sparse product, where a framework was four times slower (0103).
"""

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int64]

N_OFFSETS = 3
UNKNOWN = -1
"""Label of a target that is not there (the call was over) or was never seen in training: no loss."""


@dataclass(slots=True)
class Net:
    """Weights. Shapes: V marks, P text inputs, D hidden, H hidden per offset, O outputs of all heads together."""

    marks: Array
    """(V, D)"""
    texts: Array
    """(P, D)"""
    bias: Array
    """(D,)"""
    hidden: Array
    """(D, offsets x H)"""
    hidden_bias: Array
    out: Array
    """(offsets, H, O)"""
    out_bias: Array
    """(offsets, 1, O)"""

    def items(self) -> list[tuple[str, Array]]:
        return [(part.name, getattr(self, part.name)) for part in fields(self)]


class Size(NamedTuple):
    d: int = 256
    h: int = 128


class Regularised(NamedTuple):
    """Chosen on a development split inside STAR's training part."""

    drop_hidden: float = 0.4
    drop_marks: float = 0.1
    smoothing: float = 0.05


def fresh(n_marks: int, n_texts: int, n_out: int, size: Size, rng: np.random.Generator) -> Net:
    def normal(*shape: int, scale: float) -> Array:
        return (rng.standard_normal(shape, np.float32) * np.float32(scale)).astype(np.float32)

    return Net(
        marks=normal(n_marks, size.d, scale=0.1),
        texts=normal(n_texts, size.d, scale=0.7 / n_texts**0.5),
        bias=np.zeros(size.d, np.float32),
        hidden=normal(size.d, N_OFFSETS * size.h, scale=size.d**-0.5),
        hidden_bias=np.zeros(N_OFFSETS * size.h, np.float32),
        out=normal(N_OFFSETS, size.h, n_out, scale=size.h**-0.5),
        out_bias=np.zeros((N_OFFSETS, 1, n_out), np.float32),
    )


class Batch(NamedTuple):
    """Some positions. `rows` are the marks that occur in it: only their embeddings are touched."""

    marks: Any
    """scipy CSR of shape (n, len(rows))"""
    rows: Labels
    texts: Array
    labels: Labels
    """(heads, offsets, n); UNKNOWN where there is nothing to learn"""


def forward(net: Net, marks: Any, texts: Array) -> Array:
    """Logits of shape (offsets, n, O), without dropout."""
    h = np.maximum(marks @ net.marks + texts @ net.texts + net.bias, 0)
    q = np.maximum(h @ net.hidden + net.hidden_bias, 0)
    logits: Array = by_offset(q) @ net.out + net.out_bias
    return logits


def by_offset(q: Array) -> Array:
    return q.reshape(len(q), N_OFFSETS, -1).transpose(1, 0, 2)


def softmax(logits: Array) -> Array:
    e = np.exp(logits - logits.max(axis=-1, keepdims=True))
    p: Array = e / e.sum(axis=-1, keepdims=True)
    return p


class Step(NamedTuple):
    loss: float
    gradients: dict[str, Array]
    """By weight; that of `marks` only for the batch's rows."""


def gradients(
    net: Net, batch: Batch, heads: list[slice], weights: list[float], how: Regularised, rng: np.random.Generator
) -> Step:
    """Loss and gradients of one batch, with dropout drawn from `rng`. `weights` weighs the heads' losses."""
    used = net.marks[batch.rows]
    before = batch.marks @ used + batch.texts @ net.texts + net.bias
    keep = _dropout(before.shape, how.drop_hidden, rng)
    h = np.maximum(before, 0) * keep
    before_q = h @ net.hidden + net.hidden_bias
    keep_q = _dropout(before_q.shape, how.drop_hidden, rng)
    q = by_offset(np.maximum(before_q, 0) * keep_q)
    logits = q @ net.out + net.out_bias
    loss, d_logits = _cross_entropy(logits, batch.labels, heads, weights, how.smoothing)
    d_q = (d_logits @ net.out.transpose(0, 2, 1)).transpose(1, 0, 2).reshape(before_q.shape) * keep_q * (before_q > 0)
    d_h = (d_q @ net.hidden.T) * keep * (before > 0)
    return Step(
        loss,
        {
            "marks": np.asarray(batch.marks.T @ d_h),
            "texts": batch.texts.T @ d_h,
            "bias": d_h.sum(axis=0),
            "hidden": h.T @ d_q,
            "hidden_bias": d_q.sum(axis=0),
            "out": q.transpose(0, 2, 1) @ d_logits,
            "out_bias": d_logits.sum(axis=1, keepdims=True),
        },
    )


def _dropout(shape: tuple[int, ...], share: float, rng: np.random.Generator) -> Array:
    return (rng.random(shape, np.float32) >= share).astype(np.float32) / np.float32(1.0 - share)


def _cross_entropy(
    logits: Array, labels: Labels, heads: list[slice], weights: list[float], smoothing: float
) -> tuple[float, Array]:
    """Mean over the batch of the weighted, label-smoothed cross-entropies, and its gradient."""
    n = logits.shape[1]
    d_logits = np.zeros_like(logits)
    loss = 0.0
    for head, weight, wanted in zip(heads, weights, labels, strict=True):
        p = softmax(logits[..., head])
        offset, row = np.nonzero(wanted >= 0)
        label = wanted[offset, row]
        log_p = np.log(p[offset, row] + 1e-9)
        size = p.shape[-1]
        true_part = (1.0 - smoothing) * log_p[np.arange(len(label)), label].sum()
        loss -= weight / n * float(true_part + smoothing / size * log_p.sum())
        d = np.zeros_like(p)
        d[offset, row] = p[offset, row] - smoothing / size
        d[offset, row, label] -= 1.0 - smoothing
        d_logits[..., head] = d * np.float32(weight / n)
    return loss, d_logits

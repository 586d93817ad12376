from typing import Any

import numpy as np
import pytest
from scipy import sparse  # type: ignore[import-untyped]

from cuecard.predictors.training.net import Batch, Regularised, Size, forward, fresh, gradients, softmax

NO_DROPOUT = Regularised(drop_hidden=0.0, drop_marks=0.0, smoothing=0.1)
HEADS = [slice(0, 4), slice(4, 7)]
WEIGHTS = [1.0, 0.3]


def example() -> tuple[Any, Any]:
    """In double precision, which finite differences need."""
    rng = np.random.default_rng(0)
    net = fresh(n_marks=6, n_texts=5, n_out=7, size=Size(8, 4), rng=rng)
    for name, part in net.items():
        setattr(net, name, part.astype(np.float64))
    marks = sparse.csr_matrix((rng.random((9, 6)) < 0.5).astype(np.float64))
    labels = np.stack([rng.integers(-1, 4, (3, 9)), rng.integers(-1, 3, (3, 9))])
    texts: Any = rng.standard_normal((9, 5))
    return net, Batch(marks, np.arange(6), texts, labels)


def test_written_out_gradients_agree_with_finite_differences() -> None:
    net, batch = example()
    step = gradients(net, batch, HEADS, WEIGHTS, NO_DROPOUT, np.random.default_rng(1))
    rng = np.random.default_rng(2)
    for name, part in net.items():
        for _ in range(8):
            at = tuple(rng.integers(0, size) for size in part.shape)
            losses = []
            for nudge in (1e-4, -2e-4):
                part[at] += nudge
                step_there = gradients(net, batch, HEADS, WEIGHTS, NO_DROPOUT, np.random.default_rng(1))
                losses.append(step_there.loss)
            part[at] += 1e-4
            slope = (losses[0] - losses[1]) / 2e-4
            assert step.gradients[name][at] == pytest.approx(slope, rel=2e-3, abs=1e-5)


def test_targets_that_are_not_there_teach_nothing() -> None:
    net, batch = example()
    silent = batch._replace(labels=np.full_like(batch.labels, -1))
    step = gradients(net, silent, HEADS, WEIGHTS, NO_DROPOUT, np.random.default_rng(1))
    assert step.loss == 0.0
    assert all(not gradient.any() for gradient in step.gradients.values())


def test_each_head_and_offset_has_its_own_distribution() -> None:
    net, batch = example()
    logits = forward(net, batch.marks, batch.texts)
    assert logits.shape == (3, 9, 7)
    for head in HEADS:
        assert softmax(logits[..., head]).sum(axis=-1) == pytest.approx(1.0)

"""The head on made-up features: what is kept says the same as what was fitted."""

import numpy as np
import pytest

from cuecard.belief import head as head_module
from cuecard.belief.features import NOTHING, Floats
from cuecard.belief.head import Fitted, Head, Rows, Weights, fit

N_CLASSES = 3
NEAR = Weights(embedding=0.0, near=1.4, ngrams=0.0, dense=0.0, ridge=1.0)


def clusters(rng: np.random.Generator, a_class: int) -> Rows:
    """Each class lives in two opposite places, which no plane can tell apart."""
    centres = rng.standard_normal((N_CLASSES, 384))
    signs = rng.choice([-1.0, 1.0], size=(N_CLASSES, a_class, 1))
    points = signs * centres[:, None, :] + 0.5 * rng.standard_normal((N_CLASSES, a_class, 384))
    vectors = points.reshape(-1, 384)
    n = len(vectors)
    return Rows(
        vectors=(vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32),
        sparse=[NOTHING] * n,
        dense=np.zeros((n, 1), np.float32),
        labels=np.repeat(np.arange(N_CLASSES), a_class),
        groups=np.arange(n),
        weight=np.ones(n),
    )


@pytest.fixture(scope="module")
def rows() -> Rows:
    return clusters(np.random.default_rng(0), 40)


@pytest.fixture(scope="module")
def fitted(rows: Rows) -> Fitted:
    return fit(rows, N_CLASSES, NEAR)


def scores(head: Head, rows: Rows) -> Floats:
    return np.stack([head.scores(vector, NOTHING, np.zeros(1, np.float32)) for vector in rows.vectors])


def test_nearness_tells_apart_what_no_plane_can(rows: Rows, fitted: Fitted) -> None:
    linear = fit(rows, N_CLASSES, NEAR._replace(embedding=1.4, near=0.0))
    near_right = np.mean(fitted.held_out.argmax(axis=1) == rows.labels)
    linear_right = np.mean(linear.held_out.argmax(axis=1) == rows.labels)
    assert near_right > 0.95
    assert linear_right < 0.6


def test_a_kept_head_says_what_it_said(rows: Rows, fitted: Fitted) -> None:
    kept = Head.from_arrays(fitted.head.arrays())
    np.testing.assert_allclose(scores(kept, rows), scores(fitted.head, rows), atol=0.1)


def test_fewer_landmarks_say_nearly_the_same(rows: Rows, fitted: Fitted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head_module, "LANDMARKS", 90)
    fewer = fit(rows, N_CLASSES, NEAR).head
    assert len(fewer.landmarks) == 90
    agree = scores(fewer, rows).argmax(axis=1) == scores(fitted.head, rows).argmax(axis=1)
    assert np.mean(agree) > 0.95


def test_a_head_without_nearness_keeps_no_example(rows: Rows) -> None:
    assert len(fit(rows, N_CLASSES, Weights()).head.landmarks) == 0

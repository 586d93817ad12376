"""Trains an ensemble. A few members leave out other sessions each, to judge them later; the rest learn from all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cuecard.predictors.graph import GraphPrior
from cuecard.predictors.training.examples import (
    Examples,
    Raw,
    Turns,
    Vocabulary,
    numbered,
    principal_axes,
    raw_examples,
    vocabulary,
)
from cuecard.predictors.training.net import (
    N_OFFSETS,
    Array,
    Batch,
    Labels,
    Net,
    Regularised,
    Size,
    forward,
    fresh,
    gradients,
    softmax,
)

HEAD_WEIGHTS = {"action": 1.0, "source": 0.3, "state": 0.5}


WARM_UP = 0.75
"""Share of the sessions that everybody learns from. The mixture's shares are fitted on the later ones: each judge goes
without some of those, and no more, for a member without a fifth of the sessions loses 1.4 points (decision 0108)."""


class Plan(NamedTuple):
    """How long and how wide. The default takes about five minutes of one core for 4,656 sessions."""

    n_members: int = 6
    n_judges: int = 3
    """Members that each go without some of the late sessions, on which the mixture's shares are fitted."""
    n_epochs: int = 12
    fewest_steps: int = 500
    """Few sessions are gone through more often, until there have been so many batches."""
    batch: int = 256
    peak_rate: float = 2e-3
    decay: float = 0.02
    n_axes: int = 128
    size: Size = Size()
    regularised: Regularised = Regularised()


@dataclass(frozen=True, slots=True)
class Trained:
    """An ensemble and what its members said about the sessions they had not seen."""

    members: list[Net]
    names: Vocabulary
    projection: Array
    raw: Raw
    held_out: list[Array]
    """Per head: probabilities (offsets, n, labels) by the judge that left the session out; NaN where none did."""
    labels: Labels
    """(heads, offsets, n)"""


def train(
    sessions: Sequence[Turns],
    plan: Plan,
    seed: int,
    prior: Callable[[str], GraphPrior | None] = lambda _: None,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> Trained:
    """Fit on all sessions, given in time order. `advance(done, total)` is told after every member.

    `prior` gives the procedures' drawings, whose likeliest steps are marks like any other.
    """
    rng = np.random.default_rng(seed)
    raw = raw_examples(sessions, prior)
    names = vocabulary(raw, range(len(raw)))
    projection = principal_axes(raw, plan.n_axes, rng)
    examples = numbered(raw, names, projection)
    n_judges = min(plan.n_judges, plan.n_members)
    judge = _judges(len(sessions), n_judges, rng)
    held_out = [np.full((N_OFFSETS, len(raw), part.stop - part.start), np.nan, np.float32) for part in names.heads]
    members: list[Net] = []
    for member in range(plan.n_members):
        out = judge[raw.session] == member
        net = _train_one(examples, np.flatnonzero(~out), names, plan, rng)
        members.append(net)
        advance(member + 1, plan.n_members)
        if out.any():
            logits = forward(net, examples.marks[out], examples.texts[out])
            for part, probabilities in zip(names.heads, held_out, strict=True):
                probabilities[:, out] = softmax(logits[..., part])
    return Trained(members, names, projection, raw, held_out, examples.labels)


def _judges(n_sessions: int, n_judges: int, rng: np.random.Generator) -> Labels:
    """By session, which member goes without it; -1 for the early ones, which all members learn from."""
    judge = np.full(n_sessions, -1, np.int64)
    late = np.arange(int(np.ceil(WARM_UP * n_sessions)), n_sessions)
    judge[late] = rng.permutation(len(late)) % n_judges
    return judge


def _train_one(
    examples: Examples,
    rows: Labels,
    names: Vocabulary,
    plan: Plan,
    rng: np.random.Generator,
) -> Net:
    net = fresh(len(names.marks), examples.texts.shape[1], names.n_out, plan.size, rng)
    batch = min(plan.batch, len(rows))
    n_batches = len(rows) // batch
    n_epochs = max(plan.n_epochs, plan.fewest_steps // n_batches)
    optimiser = _Adam(net, plan, n_batches * n_epochs)
    weights = [HEAD_WEIGHTS[head] for head in names.labels]
    for _ in range(n_epochs):
        order = rng.permutation(rows)
        for start in range(0, n_batches * batch, batch):
            part = _batch(examples, order[start : start + batch], plan.regularised.drop_marks, rng)
            step = gradients(net, part, names.heads, weights, plan.regularised, rng)
            optimiser.update(net, step.gradients, part.rows)
    return net


def _batch(examples: Examples, rows: Labels, drop: float, rng: np.random.Generator) -> Batch:
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

    marks = examples.marks[rows]
    used, columns = np.unique(marks.indices, return_inverse=True)
    kept = (rng.random(len(columns), np.float32) >= drop).astype(np.float32)
    narrow = csr_matrix((kept, columns, marks.indptr), shape=(len(rows), len(used)))
    return Batch(narrow, used.astype(np.int64), examples.texts[rows], examples.labels[:, :, rows])


class _Adam:
    """AdamW with a cosine schedule. Marks that do not occur in a batch are left alone, moments and all."""

    _BETA1, _BETA2 = 0.9, 0.99
    _WARM_UP = 100

    def __init__(self, net: Net, plan: Plan, n_steps: int) -> None:
        self._mean = {name: np.zeros_like(part) for name, part in net.items()}
        self._square = {name: np.zeros_like(part) for name, part in net.items()}
        self._plan = plan
        self._n_steps = n_steps
        self._step = 0

    def update(self, net: Net, step_gradients: dict[str, Array], rows: Labels) -> None:
        self._step += 1
        cosine = 0.5 * (1.0 + np.cos(np.pi * self._step / self._n_steps)) + 0.02
        rate = self._plan.peak_rate * min(1.0, self._step / self._WARM_UP) * float(cosine)
        for name, part in net.items():
            at: Labels | slice = rows if name == "marks" else slice(None)
            gradient = step_gradients[name]
            mean = self._mean[name][at] * np.float32(self._BETA1) + gradient * np.float32(1.0 - self._BETA1)
            square = self._square[name][at] * np.float32(self._BETA2) + gradient**2 * np.float32(1.0 - self._BETA2)
            self._mean[name][at] = mean
            self._square[name][at] = square
            size = np.sqrt(square / np.float32(1.0 - self._BETA2**self._step)) + np.float32(1e-8)
            move = mean / np.float32(1.0 - self._BETA1**self._step) / size
            if not name.endswith("bias"):
                move += np.float32(self._plan.decay) * part[at]
            part[at] -= np.float32(rate) * move

"""Recorded calls as training examples: one per agent turn that has a turn after it."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from cuecard.predictors.counts import HORIZON
from cuecard.predictors.features import DIM, N_TEXTS, marks, texts
from cuecard.predictors.graph import NOTHING_DRAWN, GraphPrior
from cuecard.predictors.training.net import UNKNOWN, Array, Labels
from cuecard.predictors.types import UNLABELLED, SessionView, TurnView

MIN_COUNT = 4
"""Rarer marks are left out: they would be learned by heart."""
HEADS = ("action", "source", "state")

Turns = Sequence[TurnView]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Names of inputs and outputs, in the order of the network's rows and columns."""

    marks: tuple[str, ...]
    labels: dict[str, tuple[str, ...]]
    """By head; a head without labels is not there."""

    @property
    def heads(self) -> list[slice]:
        ends = np.cumsum([0, *(len(names) for names in self.labels.values())]).tolist()
        return [slice(start, end) for start, end in pairwise(ends)]

    @property
    def n_out(self) -> int:
        return sum(len(names) for names in self.labels.values())


@dataclass(frozen=True, slots=True)
class Raw:
    """Examples before anything is numbered."""

    marks: list[list[str]]
    texts: npt.NDArray[np.float16]
    """(n, N_TEXTS x DIM), half precision to spare memory"""
    targets: list[dict[str, list[str | None]]]
    """Per example and head: the label at each offset, None where there is none."""
    session: Labels

    def __len__(self) -> int:
        return len(self.marks)


def raw_examples(sessions: Sequence[Turns], prior: Callable[[str], GraphPrior | None] = lambda _: None) -> Raw:
    """Each position as the predictor would see it, `prior` giving the procedures' drawings."""
    found: list[list[str]] = []
    inputs: list[npt.NDArray[np.float16]] = []
    targets: list[dict[str, list[str | None]]] = []
    session: list[int] = []
    for number, turns in enumerate(sessions):
        for index in range(len(turns) - 1):
            view = SessionView(sop=turns[index].sop, turns=tuple(turns[: index + 1]))
            graph = prior(view.sop)
            found.append(marks(view, graph.expect(view, HORIZON) if graph is not None else NOTHING_DRAWN))
            inputs.append(texts(view).astype(np.float16))
            ahead = [turns[index + k] if index + k < len(turns) else None for k in range(1, HORIZON + 1)]
            targets.append({head: [_label(head, turn) for turn in ahead] for head in HEADS})
            session.append(number)
    stacked = np.stack(inputs) if inputs else np.zeros((0, N_TEXTS * DIM), np.float16)
    return Raw(found, stacked, targets, np.array(session, np.int64))


def _label(head: str, turn: TurnView | None) -> str | None:
    if turn is None:
        return None
    if head == "source":
        return turn.source
    label = turn.label if head == "action" else turn.state
    return label if label and label != UNLABELLED else None


def vocabulary(raw: Raw, rows: Iterable[int]) -> Vocabulary:
    """What occurs in the given examples: other rows must not leak in, not even as a name."""
    n_marks: Counter[str] = Counter()
    seen: dict[str, set[str]] = {head: set() for head in HEADS}
    for row in rows:
        n_marks.update(raw.marks[row])
        for head, labels in raw.targets[row].items():
            seen[head].update(label for label in labels if label is not None)
    kept = tuple(sorted(mark for mark, n in n_marks.items() if n >= MIN_COUNT))
    return Vocabulary(kept, {head: tuple(sorted(names)) for head, names in seen.items() if names})


@dataclass(frozen=True, slots=True)
class Examples:
    """Numbered examples."""

    marks: Any
    """scipy CSR (n, V)"""
    texts: Array
    labels: Labels
    """(heads, offsets, n)"""


def numbered(raw: Raw, names: Vocabulary, projection: Array) -> Examples:
    """`projection` (DIM, P) shortens each embedding."""
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

    number = {mark: index for index, mark in enumerate(names.marks)}
    known = [[number[mark] for mark in found if mark in number] for found in raw.marks]
    starts = np.cumsum([0, *map(len, known)])
    flat = np.array([index for row in known for index in row], np.int64)
    matrix = csr_matrix((np.ones(len(flat), np.float32), flat, starts), shape=(len(raw), len(names.marks)))
    short = raw.texts.reshape(-1, DIM).astype(np.float32) @ projection
    labels = np.full((len(names.labels), HORIZON, len(raw)), UNKNOWN, np.int64)
    for head, (name, own) in enumerate(names.labels.items()):
        column = {label: index for index, label in enumerate(own)}
        for row, target in enumerate(raw.targets):
            for offset, label in enumerate(target[name]):
                if label is not None:
                    labels[head, offset, row] = column.get(label, UNKNOWN)
    return Examples(matrix, short.reshape(len(raw), -1), labels)


def principal_axes(raw: Raw, n_axes: int, rng: np.random.Generator) -> Array:
    """(DIM, n_axes) projection onto the directions in which what people said differs most, at unit scale."""
    said = raw.texts.reshape(-1, DIM)
    sample = said[rng.choice(len(said), min(len(said), 20_000), replace=False)].astype(np.float32)
    sample = sample[np.abs(sample).sum(axis=1) > 0]
    if not len(sample):
        return np.zeros((DIM, n_axes), np.float32)
    values, axes = np.linalg.eigh(sample.T @ sample / len(sample))
    best: Array = axes[:, ::-1][:, :n_axes]
    scale = np.sqrt(max(float(values[::-1][:n_axes].mean()), 1e-9))
    scaled: Array = (best / scale).astype(np.float32)
    return scaled

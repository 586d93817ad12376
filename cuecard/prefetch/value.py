"""What a fetch is worth: seconds of stall it is expected to save, before its price.

Everything is in arrays over candidates, because a corpus of 400 topics has 400 of them on every turn.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

PARTIAL_LEAD_S = 1.2
"""How long before the caller stops an unfinished transcript usually holds the question (evidence, section 1)."""
PARTIAL_RECALL = 0.8
"""How often it does."""


@dataclass(frozen=True, slots=True)
class Horizon:
    """When the next needs fall due: seconds from now until the caller stops speaking before turn +1, +2, ..."""

    lead_s: Floats

    def __len__(self) -> int:
        return len(self.lead_s)


def first_use(p_need: Floats) -> Floats:
    """P(first needed at +h) from P(needed at +h), both (n, horizon), taking turns as independent."""
    not_before = np.cumprod(1.0 - p_need, axis=1)
    before = np.concatenate([np.ones((len(p_need), 1)), not_before[:, :-1]], axis=1)
    return np.asarray(p_need * before)


def hidden_s(latency_s: Floats, lead_s: Floats, anyway_s: Floats) -> Floats:
    """Seconds a fetch started now saves if first needed at +h, beyond what is saved without it; (n, horizon)."""
    saved = np.minimum(latency_s[:, None], np.maximum(lead_s[None, :], 0.0))
    return np.asarray(np.maximum(saved - anyway_s[:, None], 0.0))


def hidden_by_partial_s(latency_s: Floats) -> Floats:
    """Seconds the unfinished transcript will save by itself when the argument is the caller's question."""
    return np.asarray(PARTIAL_RECALL * np.minimum(latency_s, PARTIAL_LEAD_S))

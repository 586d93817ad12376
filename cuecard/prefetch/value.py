"""What a fetch is worth: seconds of stall it is expected to save, before its price.

Everything is in arrays over candidates, because a corpus of 400 topics has 400 of them on every turn.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]


def first_use(p_need: Floats) -> Floats:
    """P(first needed at +h) from P(needed at +h), both (n, horizon), taking turns as independent."""
    not_before = np.cumprod(1.0 - p_need, axis=1)
    before = np.concatenate([np.ones((len(p_need), 1)), not_before[:, :-1]], axis=1)
    return np.asarray(p_need * before)


class Saving(NamedTuple):
    """Both (n, horizon), for a fetch started now and first needed at +h."""

    seconds: Floats
    """Expected stall-seconds saved."""
    p_fresh: Floats
    """P(it has not expired by then)."""


def hidden_s(latency_s: Floats, ttl_s: Floats, anyway_s: Floats, leads_s: Floats) -> Saving:
    """What a fetch started now saves, by the turn of its first need.

    `leads_s` are samples (m, horizon) of the time from now until the caller stops speaking before turn +h: their mean
    would flatter it, since what is late is lost and what is early is not gained. A fetch that has expired by then saves
    nothing, and one saves nothing beyond `anyway_s`, what will be saved if it is not made now.
    """
    lead = np.maximum(leads_s, 0.0)[None, :, :]
    latency = latency_s[:, None, None]
    saved = np.minimum(latency, lead) - anyway_s[:, None, None]
    fresh = lead < latency + ttl_s[:, None, None]
    return Saving(np.asarray((np.maximum(saved, 0.0) * fresh).mean(axis=1)), np.asarray(fresh.mean(axis=1)))


def hidden_by_partial_s(latency_s: Floats, heard_s: Floats) -> Floats:
    """Seconds the unfinished transcript will save by itself when the argument is the caller's question.

    `heard_s` are samples of how long before the end of their words the question was clear; 0 where it never was.
    """
    return np.asarray(np.minimum(latency_s[:, None], heard_s[None, :]).mean(axis=1))

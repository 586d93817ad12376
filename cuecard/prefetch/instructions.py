"""Replies written before they are needed, and the check that decides whether one may be said as it stands."""

import re
from typing import NamedTuple

import numpy as np

from cuecard.prefetch.types import Item, Vector

FIT_COSINE = 0.6
"""Caller's words to the imagined ones; below, the reply answers another question (docs/decisions/0146)."""
_NUMBERS = re.compile(r"\d+")
_NEGATION = re.compile(r"\b(?:no|not|never|without|nothing|none|\w+n't)\b")


class Fit(NamedTuple):
    ok: bool
    reason: str


def instruction(
    *,
    action: str,
    utterance: str,
    vector: Vector,
    reply: str,
    p: float,
    now_s: float,
    ttl_s: float,
    facts: frozenset[str] = frozenset(),
    sources: tuple[str, ...] = (),
    offset: int = 1,
    tenant: str = "default",
    session: str = "",
    state: str = "",
) -> Item:
    """A reply for (action, imagined utterance in `state`).

    `sources` are the ids of items it quotes, `facts` those it names.
    """
    return Item(
        id=f"say:{action}:{utterance.casefold()}",
        dep=f"say:{action}",
        text=reply,
        kind="instruction",
        data={"action": action, "utterance": utterance, "sources": list(sources), "state": state},
        vector=vector,
        fetched_at_s=now_s,
        expires_at_s=now_s + ttl_s,
        facts=facts,
        for_action=action,
        for_offset=offset,
        p=p,
        origin="forecast",
        tenant=tenant,
        session=session,
    )


def fits(
    item: Item, *, action: str, words: str, vector: Vector, ready: frozenset[str], now_s: float, state: str = ""
) -> Fit:
    """Whether the pre-written reply may be said word for word; `ready` holds the ids of items that are still good.

    `state` is what the caller was found to be doing: nearly the same words of somebody who hesitates want another
    reply, and cosine does not hear it (two of twenty were wrong that way; docs/decisions/0190).
    """
    if item.kind != "instruction" or not item.fresh(now_s):
        return Fit(False, "not a fresh instruction")
    if item.data["action"] != action:
        return Fit(False, f"written for {item.data['action']}, not {action}")
    gone = [source for source in item.data["sources"] if source not in ready]
    if gone:
        return Fit(False, f"quotes {gone[0]}, which is no longer there")
    meant = item.data.get("state", "")
    if state and meant and state != meant:
        return Fit(False, f"written for {meant}, and the caller is in {state}")
    imagined = str(item.data["utterance"])
    if set(_NUMBERS.findall(words)) != set(_NUMBERS.findall(imagined)):
        return Fit(False, "the caller named other numbers")
    if _negated(words) != _negated(imagined):
        return Fit(False, "one of the two says no")
    cosine = float(np.dot(vector, item.vector)) if item.vector is not None else 0.0
    if cosine < FIT_COSINE:
        return Fit(False, f"the words differ (cosine {cosine:.2f})")
    return Fit(True, f"cosine {cosine:.2f}")


def _negated(text: str) -> bool:
    return _NEGATION.search(text.casefold().replace("\u2019", "'")) is not None

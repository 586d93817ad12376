"""Which of the prospects to fetch now, in what order: the rule of whoever plans by habits."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cuecard.prefetch.outlook import Prospects


class Choice(NamedTuple):
    """A candidate worth fetching now. `urgency` (seconds lost by waiting a pass, per second of a pipe) orders them."""

    name: str
    value_s: float
    urgency: float
    p_use: float
    p_next: float


EVIDENCE = 20.0
"""Calls' worth of belief behind a chance when it is drawn instead of taken as it stands."""


def choose(
    prospects: Prospects,
    fresh_for_s: Callable[[str], float],
    next_need_s: float,
    dice: np.random.Generator | None = None,
) -> list[Choice]:
    """What is worth its price now and would lose by waiting, most urgent first.

    With `dice` each chance of use is drawn from what is believed of it (Thompson sampling), so that now and then
    something unsure is tried; off by default, because it costs more than it teaches (docs/decisions/0141).

    `fresh_for_s` says for how long an item is still good (0 when there is none); what lasts until the next
    need falls due, `next_need_s` from now, can wait for the next pass, whose forecast will know more.
    """
    if dice is not None:
        prospects = drawn(prospects, dice)
    gain = prospects.value_s - np.maximum(prospects.wait_s, 0.0)
    urgency = gain / prospects.latency_s
    rows = np.flatnonzero((prospects.value_s > 0.0) & (gain > 0.0))
    chosen = []
    for row in rows[np.argsort(-urgency[rows])].tolist():
        name = prospects.names[row]
        if fresh_for_s(name) > next_need_s:
            continue
        chosen.append(
            Choice(
                name,
                float(prospects.value_s[row]),
                float(urgency[row]),
                float(prospects.p_use[row]),
                float(prospects.p_next[row]),
            )
        )
    return chosen


def drawn(prospects: Prospects, dice: np.random.Generator) -> Prospects:
    """The same prospects under chances drawn from a Beta around each; what waiting is worth stays as it was."""
    p = np.clip(prospects.p_use, 1e-6, 1.0 - 1e-6)
    p_drawn = dice.beta(EVIDENCE * p, EVIDENCE * (1.0 - p))
    saved_s = prospects.value_s + prospects.price_s * (1.0 - p)
    value_s = saved_s * p_drawn / p - prospects.price_s * (1.0 - p_drawn)
    return replace(prospects, value_s=value_s, p_use=p_drawn)

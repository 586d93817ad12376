"""Which of the prospects to fetch now, in what order: the rule that every scheduler of ours goes by."""

import os
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cuecard.prefetch.outlook import Prospects

MIN_URGENCY = float(os.environ.get("MU", "0.002"))


class Choice(NamedTuple):
    """A candidate worth fetching now. `urgency` (seconds lost by waiting a pass, per second of a pipe) orders them."""

    name: str
    value_s: float
    urgency: float
    p_use: float
    p_next: float


def choose(prospects: Prospects, fresh_for_s: Callable[[str], float], next_need_s: float) -> list[Choice]:
    """What is worth its price now and would lose by waiting, most urgent first.

    `fresh_for_s` says for how long an item is still good (0 when there is none); what lasts until the next
    need falls due, `next_need_s` from now, can wait for the next pass, whose forecast will know more.
    """
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

"""What a session's turns add to the counts: every turn, seen from up to three turns before it."""

from collections.abc import Sequence

import numpy as np

from cuecard.precedents.contexts import Keys, Step, keys_after
from cuecard.precedents.packed import Ids, code
from cuecard.predictors.counts import HORIZON

REACH = HORIZON + 2
"""Turns before a new one that shape what it adds: a context three turns back looks at two actions before that."""


def seen_from_before(steps: Sequence[Step], first_new: int = 0) -> tuple[Ids, Ids]:
    """(context key, entry code) of everything that steps[first_new:] add; steps before are there for context only."""
    keys: list[int] = []
    codes: list[int] = []
    after: dict[int, Keys] = {}
    for position in range(first_new, len(steps)):
        step = steps[position]
        for offset in range(1, min(HORIZON, position) + 1):
            start = position - offset
            if start not in after:
                after[start] = keys_after(steps[max(0, start - 2) : start + 1])
            found, about = after[start]
            # No source consulted and no question asked are events too; a state that nobody judged is not.
            seen = [code("action", offset, step.action), code("source", offset, step.source)]
            if step.state:
                seen.append(code("state", offset, step.state))
            for one in seen:
                keys += found
                codes += [one] * len(found)
            keys += about
            codes += [code("topic", offset, step.topic)] * len(about)
    return np.array(keys, np.int64), np.array(codes, np.int64)

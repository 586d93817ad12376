"""Finds the price at which past calls would have wasted no more fetches than we allow.

A price per fetch is what the scheduler needs; what people can name is how many fetches a call may waste, or how many it
may make at all. The one follows from the other by replaying past calls, without their clock.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cuecard.prefetch.choice import choose
from cuecard.prefetch.habits import Habits, PastCall, Place
from cuecard.prefetch.outlook import Costs, Prospects, QuestionOutlook, RecordOutlook, Uses, lasting

STEPS = 6
"""Halvings of the price range: within two per cent of the range's logarithm."""
LOWEST_S, HIGHEST_S = 0.01, 1.0
REPLAYED = 150
"""Past calls that are replayed; more change the price by less than a step."""


UNVERIFIED_MORE = 0.8
"""The allowance grows by this times the share of needs that fall due before identity is verified."""
LIFETIME_MORE = 0.12
"""And by this for each time that what was fetched expires within a call (docs/decisions/0145)."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a call may cost on average; None: no bound."""

    wasted: float | None = 8.8
    """On average over calls in which identity is known before the first need and nothing expires."""
    fetches: float | None = None
    """Not exceeded by most calls: a budget that is spent leaves the rest of the call without help."""

    def among(self, calls: Sequence[PastCall], ttl_s: float) -> "Allowance":
        """The allowance for calls like these.

        Guesses are poorer while nothing personal may be fetched, and what expires has to be fetched again.
        """
        if self.wasted is None or not calls:
            return self
        turns = [turn for call in calls for turn in call]
        needy = [turn for turn in turns if turn.records or turn.question is not None]
        unverified = sum(not turn.verified for turn in needy) / max(1, len(needy))
        lifetimes = sum(turn.seconds for turn in turns) / len(calls) / ttl_s
        return replace(self, wasted=self.wasted * (1.0 + UNVERIFIED_MORE * unverified + LIFETIME_MORE * lifetimes))


MOST = 90
"""Per cent of calls that must stay within the bound on fetches."""


@dataclass(slots=True)
class Tally:
    """What the replayed calls came to."""

    wasted: float = 0.0
    fetches: float = 0.0
    """Of the call at the `MOST`-th percentile."""

    def within(self, allowance: Allowance) -> bool:
        """Whether new calls would keep to the allowance."""
        return (allowance.wasted is None or self.wasted <= allowance.wasted) and (
            allowance.fetches is None or self.fetches <= allowance.fetches
        )


def price_for(habits: Habits, calls: Sequence[PastCall], costs: Costs, allowance: Allowance) -> float:
    """The lowest price, not below `costs.price_s`, that keeps to the allowance."""
    uses: dict[int, Uses] = {}
    allowance = allowance.among(calls, costs.ttl_s)

    def keeps_to_it(price_s: float) -> bool:
        return replay(habits, calls[:REPLAYED], replace(costs, price_s=price_s), uses).within(allowance)

    if costs.price_s >= LOWEST_S and keeps_to_it(costs.price_s):
        return costs.price_s
    low, high = max(costs.price_s, LOWEST_S), HIGHEST_S
    for _ in range(STEPS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if keeps_to_it(middle) else (middle, high)
    return math.sqrt(low * high)


def replay(habits: Habits, calls: Sequence[PastCall], costs: Costs, uses: dict[int, Uses] | None = None) -> Tally:
    """Fetches a call, and those no turn used, had these calls been served at these costs."""
    records, questions = RecordOutlook(habits, costs), QuestionOutlook(habits, costs, uses)
    lasts = lasting(costs.ttl_s, float(habits.seconds.mean()), habits.turns)
    served = [_serve(habits, call, records, questions, lasts) for call in calls]
    if not served:
        return Tally()
    fetches = float(np.percentile([one.fetches for one in served], MOST))
    return Tally(float(np.mean([one.wasted for one in served])), fetches)


def _serve(habits: Habits, call: PastCall, records: RecordOutlook, questions: QuestionOutlook, lasts: int) -> Tally:
    """One call: what lies ready at turn k was fetched at most `lasts` turns ago; used ones are no waste."""
    total = Tally()
    until: dict[str, int] = {}
    unused: set[str] = set()
    place = Place()
    for k, turn in enumerate(call):
        for name in (*turn.records, *(() if turn.question is None else (turn.question,))):
            unused.discard(name)
            if until.get(name, -1) < k:
                total.fetches += name == turn.question and turn.heard_s > 0.0
                until[name] = k + lasts
        place = habits.moved(place, turn)
        found: list[Prospects] = [questions.at(place)]
        if turn.verified:
            found.append(records.at(place))
        for prospects in found if k + 1 < len(call) else ():
            for choice in choose(prospects, lambda name: float(until.get(name, -1)), k + 0.5):
                total.fetches += 1
                total.wasted += choice.name in unused
                unused.add(choice.name)
                until[choice.name] = k + lasts
    total.wasted += len(unused)
    return total

"""What to fetch once a turn has turned out this way or that: decided beforehand, for every way it may.

A supervisor's pass takes seconds, and the next turn may be over before it ends. What follows from habits depends only
on where the call stands (`Place`), so a pass leaves *standing orders* for each place the next turn may lead to. They
go out the moment it is known which, and the following pass only has to renew them (docs/decisions/0145).
So it is in the simulated worlds; real calls ask for the orders of the present place when a pass ends (0155).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from cuecard.prefetch.choice import Choice, choose
from cuecard.prefetch.habits import Habits, Place
from cuecard.prefetch.outlook import Costs, Prospects, QuestionOutlook, RecordOutlook


@dataclass
class Lookahead:
    """Habits and costs, as prospects and choices at any place of a call; holds no session."""

    habits: Habits
    costs: Costs
    records: RecordOutlook = field(init=False)
    questions: QuestionOutlook = field(init=False)
    next_need_s: float = field(init=False)
    """When the next need usually falls due, from the moment orders go out."""

    def __post_init__(self) -> None:
        self.records = RecordOutlook(self.habits, self.costs)
        self.questions = QuestionOutlook(self.habits, self.costs)
        self.next_need_s = float(np.median(self.habits.seconds)) - self.costs.after_s

    def prospects(self, place: Place) -> list[Prospects]:
        """Candidates by kind; records only once identity is verified."""
        found = [self.questions.at(place)]
        if place.verified:
            found.append(self.records.at(place))
        return found

    def orders(
        self, place: Place, fresh_for_s: Callable[[str], float], dice: np.random.Generator | None = None
    ) -> list[Choice]:
        """What to send out when the call gets to `place`, most urgent first; arguments as for `choose`."""
        chosen: list[Choice] = []
        for prospects in self.prospects(place):
            chosen += choose(prospects, fresh_for_s, self.next_need_s, dice)
        return sorted(chosen, key=lambda choice: -choice.urgency)

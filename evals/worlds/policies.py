"""Our scheduler in a world: what it has learned from the training calls, and what it asks for in a call."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from cuecard.prefetch.allowance import Allowance, price_for
from cuecard.prefetch.choice import choose
from cuecard.prefetch.habits import Habits, PastTurn, learn
from cuecard.prefetch.outlook import Costs, Prospects, QuestionOutlook, RecordOutlook
from evals.worlds.play import PARTIAL_LEAD_S, PARTIAL_RECALL, Live, Wish, name_of
from evals.worlds.world import ACTIONS, ANSWER, Need, Turn, World


def past_call(world: World, call: Sequence[Turn], hears: Sequence[bool]) -> list[PastTurn]:
    """A scripted call as the history that a scheduler learns from; `hears` as in `Stage`."""
    return [
        PastTurn(
            cohort=str(turn.cohort),
            action=ACTIONS[turn.action],
            records=tuple(name_of(need) for need in turn.needs if need.kind == "record"),
            question=next((name_of(need) for need in turn.needs if need.kind == "question"), None),
            verified=k >= world.shape.identity_turn,
            seconds=turn.speech_s + turn.gap_s,
            heard_s=min(PARTIAL_LEAD_S, call[k - 1].gap_s) if k and hears[k - 1] else 0.0,
        )
        for k, turn in enumerate(call)
    ]


@dataclass
class Ours:
    """The product's scheduler: habits of past calls, value against waiting, urgency, partial transcripts."""

    habits: Habits
    costs: Costs
    needs: dict[str, Need]
    supervisor_s: float
    hears_partials: bool = True
    drops: bool = True
    refetch_share: float = 0.0
    dice: np.random.Generator | None = None
    """Given, the decision to fetch is explored by Thompson sampling."""
    records: RecordOutlook = field(init=False)
    questions: QuestionOutlook = field(init=False)

    def __post_init__(self) -> None:
        self.records = RecordOutlook(self.habits, self.costs)
        self.at_once = RecordOutlook(self.habits, replace(self.costs, after_s=0.0))
        self.questions = QuestionOutlook(self.habits, self.costs)
        self.ask_at_once = QuestionOutlook(self.habits, replace(self.costs, after_s=0.0))
        self.next_s = float(np.median(self.habits.seconds)) - self.costs.after_s

    def wishes(self, event: str, live: Live, turns: int) -> list[Wish]:
        wishes = []
        for prospects in self.prospects(event, live, turns):
            wishes += choose(prospects, lambda name: live.fresh_for_s(self.needs[name]), self.next_s, self.dice)
        wishes.sort(key=lambda choice: -choice.urgency)
        return [Wish(self.needs[choice.name], choice.urgency, choice.p_use) for choice in wishes]

    def prospects(self, event: str, live: Live, n_turns: int) -> list[Prospects]:
        habits, turns = self.habits, live.turns[:n_turns]
        turn = len(turns) - 1
        cohort = habits.cohorts.row(str(turns[-1].cohort)) or 0
        action = habits.actions.row(ACTIONS[turns[-1].action]) or 0
        before = (habits.actions.row(ACTIONS[turns[-2].action]) or 0) if turn else -1
        asked = [need for t in turns for need in t.needs if need.kind == "question"]
        last = habits.questions.row(name_of(asked[-1])) if asked else None
        questions = self.ask_at_once if event == "identity" else self.questions
        found = [questions.at(cohort, turn, last, turns[-1].action == ANSWER)]
        if live.identity:
            outlook = self.at_once if event == "identity" else self.records
            found.append(outlook.at(cohort, turn, before, action))
        return found


def ours(
    world: World, training: Sequence[Sequence[Turn]], price_s: float = 0.0, allowance: Allowance | None = None
) -> Ours:
    """The product's scheduler as it would be after these calls; the price follows from the allowance."""
    shape = world.shape
    dice = np.random.default_rng(7)
    heard = [[bool(dice.random() < PARTIAL_RECALL) for _ in call] for call in training]
    calls = [past_call(world, call, hears) for call, hears in zip(training, heard, strict=True)]
    habits = learn(calls)
    needs = {name_of(need): need for call in training for turn in call for need in turn.needs}
    costs = Costs(
        record_s={name: world.latency_s(needs[name]) for name in habits.records.all},
        question_s={name: world.latency_s(needs[name]) for name in habits.questions.all},
        price_s=price_s,
        ttl_s=shape.ttl_s,
        after_s=shape.supervisor_s,
    )
    if allowance is not None:
        costs = replace(costs, price_s=price_for(habits, calls, costs, replace(allowance, fetches=shape.budget)))
    return Ours(habits, costs, needs, shape.supervisor_s)


class Garbage(Ours):
    """Ours, fed a forecast about other things than it says: each chance stands under another item's name."""

    def prospects(self, event: str, live: Live, n_turns: int) -> list[Prospects]:
        found = super().prospects(event, live, n_turns)
        return [replace(one, names=shuffled(one.names)) for one in found]


@cache
def shuffled(names: tuple[str, ...]) -> tuple[str, ...]:
    """The same wrong order every time: a new one each turn would come across everything in the end."""
    return tuple(names[n] for n in np.random.default_rng(13).permutation(len(names)))

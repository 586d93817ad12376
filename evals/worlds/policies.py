"""The scheduler of habits in a world: what it has learned from the training calls, and what it asks for in a call."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from cuecard.prefetch.allowance import Allowance, price_for
from cuecard.prefetch.habits import PastTurn, Place, learn
from cuecard.prefetch.lookahead import Lookahead
from cuecard.prefetch.outlook import Costs, Prospects
from evals.worlds.play import PARTIAL_LEAD_S, PARTIAL_RECALL, Live, Wish, name_of
from evals.worlds.world import ACTIONS, Need, Turn, World


@cache
def seen(cohort: int, action: int, needs: tuple[Need, ...]) -> PastTurn:
    """What a scheduler sees of a scripted turn."""
    return PastTurn(
        cohort=str(cohort),
        action=ACTIONS[action],
        records=tuple(name_of(need) for need in needs if need.kind == "record"),
        question=next((name_of(need) for need in needs if need.kind == "question"), None),
    )


def past_call(world: World, call: Sequence[Turn], hears: Sequence[bool]) -> list[PastTurn]:
    """A scripted call as the history that a scheduler learns from; `hears` as in `Stage`."""
    heard_s = [0.0] + [min(PARTIAL_LEAD_S, turn.gap_s) * heard for turn, heard in zip(call, hears, strict=False)]
    return [
        seen(turn.cohort, turn.action, turn.needs)._replace(
            verified=k >= world.shape.identity_turn, seconds=turn.speech_s + turn.gap_s, heard_s=heard_s[k]
        )
        for k, turn in enumerate(call)
    ]


@dataclass
class Ours:
    """Habits of past calls, value against waiting, standing orders, partial transcripts.

    The product's code decides what is worth fetching; its own calls weigh a forecast first, add what habits find, and
    send no standing orders (docs/decisions/0155).
    """

    ahead: Lookahead
    needs: dict[str, Need]
    supervisor_s: float
    hears_partials: bool = True
    drops: bool = True
    stands: bool = True
    refetch_share: float = 0.0
    dice: np.random.Generator | None = None
    """Given, the decision to fetch is explored by Thompson sampling."""

    def wishes(self, event: str, live: Live, turns: Sequence[Turn]) -> list[Wish]:
        place = Place()
        for turn in turns:
            place = self.ahead.habits.moved(place, seen(turn.cohort, turn.action, turn.needs))
        place = place._replace(verified=live.identity)
        choices = self.ahead.orders(place, lambda name: live.fresh_for_s(self.needs[name]), self.dice)
        return [Wish(self.needs[choice.name], choice.urgency, choice.p_use) for choice in choices]


def ours(
    world: World, training: Sequence[Sequence[Turn]], price_s: float = 0.0, allowance: Allowance | None = None
) -> Ours:
    """The scheduler as it would be after these calls; the price follows from the allowance."""
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
        after_s=0.0,
    )
    if allowance is not None:
        costs = replace(costs, price_s=price_for(habits, calls, costs, replace(allowance, fetches=shape.budget)))
    return Ours(Lookahead(habits, costs), needs, shape.supervisor_s)


class WrongNames(Lookahead):
    """A forecast about other things than it says: each chance stands under another item's name."""

    def prospects(self, place: Place) -> list[Prospects]:
        return [replace(one, names=shuffled(one.names)) for one in super().prospects(place)]


def garbage(known: Ours) -> Ours:
    """Ours, fed that forecast."""
    return replace(known, ahead=WrongNames(known.ahead.habits, known.ahead.costs))


@cache
def shuffled(names: tuple[str, ...]) -> tuple[str, ...]:
    """The same wrong order every time: a new one each turn would come across everything in the end."""
    return tuple(names[n] for n in np.random.default_rng(13).permutation(len(names)))

"""The rules that people use, and the two bounds: nothing fetched ahead, and everything known ahead."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from evals.worlds.play import Live, Wish
from evals.worlds.world import ACTIONS, ANSWER, Floats, Need, Turn, World

POPULAR = 20
PRICE_S = 0.1
MOST_PER_PASS = 12
TURN_S = 7.5
"""Length of a turn that the expected-value rule counts with."""


@dataclass
class Nothing:
    """Every item is fetched live."""

    supervisor_s: float = 0.0
    hears_partials: bool = False
    drops: bool = False
    stands: bool = False
    refetch_share: float = 0.5

    def wishes(self, event: str, live: Live, turns: Sequence[Turn]) -> list[Wish]:
        return []


@dataclass
class Rule(Nothing):
    """A list fetched when identity is known, or again after every turn."""

    needs: list[Need] = field(default_factory=list)
    every_turn: bool = False

    def wishes(self, event: str, live: Live, turns: Sequence[Turn]) -> list[Wish]:
        due = event == "identity" or (self.every_turn and live.identity)
        return in_order(self.needs, live) if due else []


def in_order(needs: Iterable[Need], live: Live) -> list[Wish]:
    """First come, first served; what is good for more than half its time is left alone."""
    half_s = live.shape.ttl_s * 0.5
    return [Wish(need, -float(n), 1.0) for n, need in enumerate(needs) if live.fresh_for_s(need) <= half_s]


@dataclass
class Oracle(Nothing):
    """Knows every need of the call, but no fact before it is spoken, and has the same pipes."""

    call: Sequence[Turn] = ()
    look_ahead: int | None = None
    """Turns ahead that it fetches for; None: all of them. With expiry the best of several is taken."""

    def wishes(self, event: str, live: Live, turns: Sequence[Turn]) -> list[Wish]:
        ahead = (
            self.call[len(turns) :] if self.look_ahead is None else self.call[len(turns) : len(turns) + self.look_ahead]
        )
        needs = [need for turn in ahead for need in turn.needs if need.kind != "write"]
        known = [need for need in needs if live.identity or need.kind == "question"]
        return in_order(dict.fromkeys(known), live)


class Counts:
    """Plain counts over training calls, as the rules use them."""

    def __init__(self, world: World, calls: Sequence[Sequence[Turn]]) -> None:
        shape, n = world.shape, len(ACTIONS)
        self.world = world
        self.step = np.full((shape.cohorts, n, n), 0.05)
        self.after = np.full((shape.topics, shape.topics), 0.01)
        self.asked = np.full((shape.cohorts, shape.topics), 0.01)
        self.touched: defaultdict[tuple[int, int], Counter[int]] = defaultdict(Counter)
        ahead = 99 if shape.ttl_s > 1e8 else max(1, round(shape.ttl_s / TURN_S))
        uses = Uses(shape.cohorts, n, shape.records, shape.topics, ahead)
        for call in calls:
            self._count(call)
            uses.count(call)
        self.step /= self.step.sum(axis=2, keepdims=True)
        self.after /= self.after.sum(axis=1, keepdims=True)
        self.asked /= self.asked.sum(axis=1, keepdims=True)
        self.uses = uses

    def _count(self, call: Sequence[Turn]) -> None:
        last: int | None = None
        for turn, following in zip(call, [*call[1:], None], strict=True):
            if following is not None:
                self.step[turn.cohort, turn.action, following.action] += 1
            for need in turn.needs:
                if need.kind == "record":
                    self.touched[turn.action, turn.cohort][need.n] += 1
                elif need.kind == "question":
                    self.asked[turn.cohort, need.n] += 1
                    if last is not None:
                        self.after[last, need.n] += 1
                    last = need.n

    def popular(self, n: int) -> list[int]:
        return [int(topic) for topic in np.argsort(-self.asked.mean(axis=0))[:n]]


class Uses:
    """P(used within the next turns), by cohort and action for records, by cohort and last question for questions."""

    def __init__(self, cohorts: int, actions: int, records: int, topics: int, ahead: int) -> None:
        self.ahead = ahead
        self.records = np.full((cohorts, actions, records), 0.02)
        self.seen = np.ones((cohorts, actions))
        self.topics = np.full((cohorts, topics), 0.002)
        self.turns = np.ones(cohorts)
        self.following = np.full((topics, topics), 0.002)
        self.asked = np.ones(topics)

    def count(self, call: Sequence[Turn]) -> None:
        for k, turn in enumerate(call):
            future = {need for later in call[k + 1 : k + 1 + self.ahead] for need in later.needs}
            records = [need.n for need in future if need.kind == "record"]
            topics = [need.n for need in future if need.kind == "question"]
            self.seen[turn.cohort, turn.action] += 1
            self.turns[turn.cohort] += 1
            self.records[turn.cohort, turn.action, records] += 1
            self.topics[turn.cohort, topics] += 1
            for need in turn.needs:
                if need.kind == "question":
                    self.asked[need.n] += 1
                    self.following[need.n, topics] += 1

    def of_topics(self, cohort: int, last: int | None) -> Floats:
        usual = self.topics[cohort] / self.turns[cohort]
        return np.asarray(usual if last is None else np.maximum(usual, self.following[last] / self.asked[last]))


def last_question(turns: Sequence[Turn]) -> int | None:
    asked = [need.n for turn in turns for need in turn.needs if need.kind == "question"]
    return asked[-1] if asked else None


@dataclass
class NextActions(Nothing):
    """What the likeliest next actions need, by counts; for a question, the likeliest three."""

    counts: Counts | None = None

    def wishes(self, event: str, live: Live, turns: Sequence[Turn]) -> list[Wish]:
        if self.counts is None or not live.identity:
            return []
        counts, now = self.counts, turns[-1]
        p = counts.step[now.cohort, now.action] + 0.6 * (counts.step[now.cohort, now.action] @ counts.step[now.cohort])
        needs: list[Need] = []
        for action in np.argsort(-p)[:3].tolist():
            if p[action] < 0.08:
                continue
            if action == ANSWER:
                last = last_question(turns)
                weights = counts.asked[now.cohort]
                if last is not None:
                    weights = 0.5 * weights + 0.5 * counts.after[last]
                needs += [Need("question", int(topic)) for topic in np.argsort(-weights)[:3]]
            else:
                likely = counts.touched[action, now.cohort].most_common(2)
                needs += [Need("record", record) for record, _ in likely]
        return in_order(needs, live)


@dataclass
class ExpectedValue(Nothing):
    """Fetch while P(used in the rest of the call or before expiry) x latency exceeds a price, P from plain counts."""

    counts: Counts | None = None

    def wishes(self, event: str, live: Live, turns: Sequence[Turn]) -> list[Wish]:
        if self.counts is None:
            return []
        world, uses, now = self.counts.world, self.counts.uses, turns[-1]
        found: list[tuple[float, Need]] = []
        if live.identity:
            p = uses.records[now.cohort, now.action] / uses.seen[now.cohort, now.action]
            found += [(float(v), Need("record", n)) for n, v in enumerate(p * world.record_s)]
        p = uses.of_topics(now.cohort, last_question(turns))
        found += [(float(v), Need("question", n)) for n, v in enumerate(p * world.topic_s)]
        found.sort(key=lambda row: -row[0])
        return in_order([need for value_s, need in found if value_s > PRICE_S][:MOST_PER_PASS], live)

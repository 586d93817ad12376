"""What is worth fetching now, and what is worth leaving for the next pass, from the habits of past calls.

A fetch that is worth its price now may be worth more later: the call may end, or turn elsewhere, before it is needed.
So each value is compared with that of waiting, by backward induction over the turns of a call (optimal stopping).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cuecard.prefetch.habits import Habits, Place
from cuecard.prefetch.value import Floats, hidden_by_partial_s, hidden_s

RECORD_HORIZON = 5
"""Turns looked at one by one for records; later ones count together."""
QUESTION_HORIZON = 3


@dataclass(frozen=True, slots=True)
class Prospects:
    """Candidates of one kind, as rows: what each is worth now, and what it would be worth to decide a pass later."""

    names: tuple[str, ...]
    value_s: Floats
    """Seconds saved by a fetch now, its price paid."""
    wait_s: Floats
    p_use: Floats
    """P(used in the rest of the call, or before it expires)."""
    p_next: Floats
    """P(used in the very next turn)."""
    latency_s: Floats
    price_s: float = 0.0
    """What a fetch that is not used costs; paid in `value_s` already."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What fetching takes and costs; by name, with one value for all questions' price and time to live."""

    record_s: Mapping[str, float]
    question_s: Mapping[str, float]
    price_s: float
    ttl_s: float
    after_s: float
    """How far into a turn a pass ends."""


class RecordOutlook:
    """Records: needed by actions, known from the moment identity is."""

    def __init__(self, habits: Habits, costs: Costs) -> None:
        self._habits = habits
        self._latency_s = np.array([costs.record_s[name] for name in habits.records.all])
        n = len(self._latency_s)
        leads_s = habits.leads_s(RECORD_HORIZON, costs.after_s)
        self._saves, self._lives = hidden_s(self._latency_s, np.full(n, costs.ttl_s), np.zeros(n), leads_s)
        self._price_s = costs.price_s
        self._lasts = lasting(costs.ttl_s, float(habits.seconds.mean()), habits.turns)
        self._known: dict[tuple[int, int, int, int], Prospects] = {}
        k, c, a = habits.turns, len(habits.cohorts), len(habits.actions)
        self._first = np.zeros((k + 1, c, a, n, RECORD_HORIZON))
        self._worth = np.zeros((k + 1, c, a, n))
        self._fresh = np.zeros((k + 1, c, a, n))
        for turn in range(k - 1, -1, -1):
            self._back(turn)

    def at(self, place: Place) -> Prospects:
        """Prospects when the call has come to this place."""
        key = (place.cohort, min(place.turn, self._habits.turns - 1), place.before, place.action)
        if key not in self._known:
            self._known[key] = self._at(*key)
        return self._known[key]

    def _at(self, cohort: int, turn: int, before: int, action: int) -> Prospects:
        step = self._step(turn)[cohort, action]
        usual = self._habits.after_two.get((cohort, before, action))
        if usual is not None:
            milestones = self._habits.milestone[turn]
            step = (1.0 - self._habits.ends[action]) * (milestones + (1.0 - milestones.sum()) * usual)
        first, value_s, wait_s = self._stage(turn, step[None, :], cohort)
        return Prospects(
            self._habits.records.all,
            value_s[0] + step @ self._gained(turn, cohort),
            wait_s[0],
            first[0].sum(axis=-1),
            first[0, :, 0],
            self._latency_s,
            self._price_s,
        )

    def _step(self, turn: int) -> Floats:
        """(c, a, b): P(turn + 1 is b)."""
        milestones = self._habits.milestone[turn]
        go_on = (1.0 - self._habits.ends)[None, :, None]
        return np.asarray(go_on * (milestones + max(0.0, 1.0 - milestones.sum()) * self._habits.follows))

    def _stage(self, turn: int, step: Floats, cohort: int) -> tuple[Floats, Floats, Floats]:
        """From rows of next-action probabilities: P(first needed at +h), value of fetching, value of waiting."""
        needs = self._habits.needs[cohort]
        spared = 1.0 - needs
        later = self._first[turn + 1, cohort]
        first = np.empty((len(step), needs.shape[1], RECORD_HORIZON))
        first[..., 0] = step @ needs
        for h in range(1, RECORD_HORIZON):
            first[..., h] = step @ (spared * later[..., h - 1])
        first[..., -1] += step @ (spared * later[..., -1])
        value_s = (first * self._saves).sum(axis=-1) - self._price_s * (1.0 - (first * self._lives).sum(axis=-1))
        wait_s = step @ (spared * self._worth[turn + 1, cohort] + needs * self._fresh[turn + 1, cohort])
        return first, value_s, wait_s

    def _gained(self, turn: int, cohort: int) -> Floats:
        """(b, r): what a fetch now leaves open for after it has expired; nothing when it lasts."""
        return np.asarray(self._fresh_after(turn + 1, cohort, self._lasts - 1))

    def _fresh_after(self, turn: int, cohort: int, lasts: int) -> Floats:
        """(a, r): value at `turn` of an item that is good for `lasts` more turns."""
        if turn + lasts >= self._habits.turns:
            return np.zeros_like(self._worth[0, cohort])
        value = self._worth[turn + lasts, cohort]
        for back in range(turn + lasts - 1, turn - 1, -1):
            value = self._step(back)[cohort] @ value
        return np.asarray(value)

    def _back(self, turn: int) -> None:
        for cohort in range(len(self._habits.cohorts)):
            step = self._step(turn)[cohort]
            first, value_s, wait_s = self._stage(turn, step, cohort)
            self._first[turn, cohort] = first
            fetched = value_s + step @ self._gained(turn, cohort)
            self._worth[turn, cohort] = np.maximum(np.maximum(fetched, wait_s), 0.0)
            self._fresh[turn, cohort] = self._fresh_after(turn, cohort, self._lasts)


class Uses(NamedTuple):
    """Tables (turn, asked, last question, question) that hold at any price."""

    p_next: Floats
    p_use: Floats
    saved_s: Floats
    p_fresh_use: Floats
    """P(used before it expires)."""


class Priced(NamedTuple):
    value_s: Floats
    wait_s: Floats


class QuestionOutlook:
    """Questions: their answers are fetched by what the caller may ask, given what they asked last."""

    def __init__(self, habits: Habits, costs: Costs, uses: dict[int, Uses] | None = None) -> None:
        """`uses` are another outlook's tables for the same habits and costs but for the price."""
        self._habits = habits
        n = len(habits.questions)
        self._latency_s = np.array([costs.question_s[name] for name in habits.questions.all])
        anyway_s = hidden_by_partial_s(self._latency_s, habits.heard_s)
        leads_s = habits.leads_s(QUESTION_HORIZON, costs.after_s)
        saves, lives = hidden_s(self._latency_s, np.full(n, costs.ttl_s), anyway_s, leads_s)
        self._saves, self._lives = saves.astype(np.float32), lives.astype(np.float32)
        self._price_s = np.float32(costs.price_s)
        self._lasts = lasting(costs.ttl_s, float(habits.seconds.mean()), habits.turns)
        self._closes = habits.milestone @ habits.ends
        self._passes = habits.milestone @ (1.0 - habits.ends)
        self.uses: dict[int, Uses] = {} if uses is None else uses
        self._priced: dict[int, Priced] = {}

    def at(self, place: Place) -> Prospects:
        """Prospects when the call has come to this place."""
        cohort = place.cohort
        topics = self._habits.topics[cohort]
        if cohort not in self.uses:
            self.uses[cohort] = self._used(topics.astype(np.float32))
        if cohort not in self._priced:
            self._priced[cohort] = self._solve(topics.astype(np.float32), self.uses[cohort])
        uses, priced = self.uses[cohort], self._priced[cohort]
        n = len(self._habits.questions)
        at = (min(place.turn, self._habits.turns - 1), int(place.asked), n if place.last is None else place.last)
        return Prospects(
            self._habits.questions.all,
            priced.value_s[at],
            priced.wait_s[at],
            uses.p_use[at],
            uses.p_next[at],
            self._latency_s,
            float(self._price_s),
        )

    def _used(self, topics: Floats) -> Uses:
        p_next, p_use, second, saved_s, p_fresh_use = (self._table(topics) for _ in range(5))
        for turn in range(self._habits.turns - 1, -1, -1):
            p_next[turn] = self._next(turn, topics)
            second[turn] = self._after(turn, topics, p_next[turn + 1])
            p_use[turn] = p_next[turn] + self._after(turn, topics, p_use[turn + 1])
            rest = p_use[turn] - p_next[turn] - second[turn]
            for out, each in ((saved_s, self._saves), (p_fresh_use, self._lives)):
                out[turn] = p_next[turn] * each[:, 0] + second[turn] * each[:, 1] + rest * each[:, 2]
        return Uses(p_next, p_use, saved_s, p_fresh_use)

    def _solve(self, topics: Floats, uses: Uses) -> Priced:
        value_s = uses.saved_s - self._price_s * (1.0 - uses.p_fresh_use)
        wait_s, worth = self._table(topics), self._table(topics)
        for turn in range(self._habits.turns - 1, -1, -1):
            value_s[turn] += self._expired(turn, topics, worth)
            wait_s[turn] = self._after(turn, topics, worth[turn + 1])
            worth[turn] = np.maximum(np.maximum(value_s[turn], wait_s[turn]), 0.0)
        return Priced(value_s, wait_s)

    def _table(self, topics: Floats) -> Floats:
        n = topics.shape[1]
        return np.zeros((self._habits.turns + 1, 2, n + 1, n), np.float32)

    def _next(self, turn: int, topics: Floats) -> Floats:
        return np.stack([np.float32(self._habits.asks[turn, s]) * topics for s in (0, 1)])

    def _after(self, turn: int, topics: Floats, later: Floats, *, unless: bool = True) -> Floats:
        """Expectation of `later` (asked, last, question) over the next turn, unless that turn asks for it."""
        n = topics.shape[1]
        through = topics @ later[1, :n]
        if unless:
            through -= topics * np.diagonal(later[1, :n])[None, :]
        rows = []
        for s in (0, 1):
            asks = np.float32(self._habits.asks[turn, s])
            quiet = np.float32(max(0.0, 1.0 - self._closes[turn] - self._habits.asks[turn, s]))
            passes = np.float32(min(quiet, self._passes[turn]))
            rows.append(asks * through + passes * later[s] + (quiet - passes) * later[0])
        return np.stack(rows)

    def _expired(self, turn: int, topics: Floats, worth: Floats) -> Floats:
        """What a fetch now leaves open for after it has expired."""
        if turn + self._lasts >= self._habits.turns:
            return np.zeros(1, np.float32)
        value = worth[turn + self._lasts]
        for back in range(turn + self._lasts - 1, turn - 1, -1):
            value = self._after(back, topics, value, unless=False)
        return np.asarray(value)


def lasting(ttl_s: float, turn_s: float, turns: int) -> int:
    """How many turns an item lasts; more than a call has when it doesn't expire in one."""
    return turns + 1 if ttl_s > turns * turn_s else max(1, round(ttl_s / turn_s))

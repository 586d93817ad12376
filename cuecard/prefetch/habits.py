"""What past calls needed, and when: counts, each shrunk towards a wider one by how much it deserves.

From these the scheduler knows P(used in the rest of the call), which a forecast over three turns can't say.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from cuecard.prefetch.shares import likely_shares
from cuecard.prefetch.topics import Step, next_question
from cuecard.prefetch.value import Floats

K = TypeVar("K", bound=Hashable)

CONCENTRATIONS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)
"""Strengths of a prior that are tried; the one under which the past calls are likeliest is taken."""


class PastTurn(NamedTuple):
    """One turn of a past call, reduced to what decides needs."""

    cohort: str
    action: str
    records: tuple[str, ...] = ()
    """Dependencies it needed whose arguments are facts."""
    question: str | None = None
    """The question it needed an answer to, by its identity (a document, a cluster of questions)."""
    verified: bool = True
    """Identity was verified by the end of this turn."""
    seconds: float = 8.0
    """From the end of the caller's words of this turn to the end of the next, without stalls."""
    heard_s: float = 0.0
    """How long before the caller stopped their unfinished words gave the question away; 0 when they didn't."""


PastCall = Sequence[PastTurn]


class Place(NamedTuple):
    """Where a call stands, as row numbers of `Habits`."""

    turn: int = -1
    cohort: int = 0
    before: int = -1
    """The action before the last one."""
    action: int = -1
    last: int | None = None
    """The question asked last in the call."""
    asked: bool = False
    """Whether the last turn asked one; a step that comes once in a call leaves this as it was."""
    verified: bool = False


class Names:
    """Names to row numbers and back."""

    def __init__(self, names: Iterable[str]) -> None:
        self.all = tuple(sorted(set(names)))
        self._rows = {name: row for row, name in enumerate(self.all)}

    def __len__(self) -> int:
        return len(self.all)

    def row(self, name: str | None) -> int | None:
        return None if name is None else self._rows.get(name)


@dataclass(frozen=True, slots=True)
class Habits:
    """Probabilities learned from past calls; indices by `Names`. c cohort, a action, k turn, r record, q question."""

    cohorts: Names
    actions: Names
    records: Names
    questions: Names
    turns: int
    """Longest call seen."""
    milestone: Floats
    """(k, a): P(turn k+1 is a | turn k happened), for actions that come at most once in a call; their hour matters."""
    ends: Floats
    """(a): P(the call is over after a)."""
    once: Floats
    """(a): 1 for those actions."""
    follows: Floats
    """(c, a, b): P(b | a) among all other actions, identity verified."""
    after_two: dict[tuple[int, int, int], Floats]
    """(c, before, a) to P(b | before, a): for the very next turn only."""
    needs: Floats
    """(c, a, r): P(a needs r)."""
    asks: Floats
    """(k, s): P(turn k+1 asks a question | the call has `Place.asked` (1) or not (0) after turn k)."""
    topics: Floats
    """(c, q+1, q): P(next question | last question); the last row is for a call without one so far."""
    seconds: Floats
    """Turn lengths seen, sorted."""
    heard_s: Floats
    """Head starts that unfinished words gave on questions (see `PastTurn.heard_s`)."""

    def moved(self, place: Place, turn: PastTurn) -> Place:
        """Where the call stands after one more turn."""
        action = self.actions.row(turn.action) or 0
        row = self.questions.row(turn.question)
        asked = place.asked if self.once[action] else turn.question is not None
        return Place(
            turn=place.turn + 1,
            cohort=self.cohorts.row(turn.cohort) or 0,
            before=place.action,
            action=action,
            last=place.last if row is None else row,
            asked=asked,
            verified=turn.verified,
        )

    def leads_s(self, horizon: int, after_s: float, samples: int = 64) -> Floats:
        """Samples (samples, horizon) of the time from a pass, `after_s` into a turn, to the end of the turns after."""
        dice = np.random.default_rng(0)
        drawn = dice.choice(self.seconds, (samples, horizon))
        return np.asarray(np.cumsum(drawn, axis=1) - after_s)


def learn(calls: Sequence[PastCall]) -> Habits:
    """Habits from past calls; a few hundred suffice, and with none of them nothing is expected."""
    turns = [turn for call in calls for turn in call]
    cohorts = Names(turn.cohort for turn in turns)
    actions = Names(turn.action for turn in turns)
    records = Names(name for turn in turns for name in turn.records)
    questions = Names(turn.question for turn in turns if turn.question is not None)
    once = _milestones(calls, actions)
    longest = max((len(call) for call in calls), default=1)
    hours = _hours(calls, actions, once, longest)
    follows, after_two = _steps(calls, cohorts, actions, once)
    return Habits(
        cohorts=cohorts,
        actions=actions,
        records=records,
        questions=questions,
        turns=longest,
        milestone=hours,
        ends=_ends(calls, actions),
        once=once,
        follows=follows,
        after_two=after_two,
        needs=_needs(turns, cohorts, actions, records),
        asks=_asks(calls, hours @ _ends(calls, actions), actions, once),
        topics=_topics(calls, cohorts, questions),
        seconds=np.sort(np.array([turn.seconds for turn in turns] or [8.0])),
        heard_s=np.array([turn.heard_s for turn in turns if turn.question is not None] or [0.0]),
    )


def _milestones(calls: Sequence[PastCall], actions: Names) -> Floats:
    """(a): 1 for actions that never came twice in a call."""
    once = np.ones(len(actions))
    for call in calls:
        for action, n in Counter(turn.action for turn in call).items():
            if n > 1:
                once[actions.row(action)] = 0.0
    return once


def _hours(calls: Sequence[PastCall], actions: Names, once: Floats, longest: int) -> Floats:
    came = np.zeros((longest, len(actions)))
    there = np.full((longest, 1), 1e-9)
    for call in calls:
        for k, turn in enumerate(call[1:]):
            there[k] += 1.0
            row = actions.row(turn.action)
            assert row is not None
            came[k, row] += once[row]
    return np.asarray(came / there)


def _ends(calls: Sequence[PastCall], actions: Names) -> Floats:
    last = Counter(call[-1].action for call in calls if call)
    all_ = Counter(turn.action for call in calls for turn in call)
    return np.array([last[name] / all_[name] for name in actions.all])


def _steps(
    calls: Sequence[PastCall], cohorts: Names, actions: Names, once: Floats
) -> tuple[Floats, dict[tuple[int, int, int], Floats]]:
    """Next action among those that are no milestones: by action, by cohort and action, by cohort and last two."""
    n = len(actions)
    counts = np.zeros((len(cohorts), n, n))
    pairs: defaultdict[tuple[int, int, int], Floats] = defaultdict(lambda: np.zeros(n))
    for call in calls:
        rows = [(cohorts.row(turn.cohort) or 0, actions.row(turn.action) or 0) for turn in call]
        for k in range(len(call) - 1):
            (c, a), b = rows[k], rows[k + 1][1]
            if once[b] or not call[k].verified:
                continue
            counts[c, a, b] += 1.0
            pairs[(c, rows[k - 1][1] if k else -1, a)][b] += 1.0
    usual = _unit(counts.sum(axis=(0, 1)) + 1e-3 * (1.0 - once))
    by_action = _shrunk({a: counts[:, a].sum(axis=0) for a in range(n)}, lambda _: usual)
    follows = np.zeros_like(counts)
    for (c, a), p in _shrunk(
        {(c, a): counts[c, a] for c in range(len(cohorts)) for a in range(n)}, lambda key: by_action[key[1]]
    ).items():
        follows[c, a] = p
    after_two: dict[tuple[int, int, int], Floats] = {}
    for a in range(n):
        mine = {key: row for key, row in pairs.items() if key[2] == a}
        after_two.update(_shrunk(mine, lambda key: follows[key[0], key[2]]))
    return follows, after_two


def _needs(turns: Sequence[PastTurn], cohorts: Names, actions: Names, records: Names) -> Floats:
    hits = np.zeros((len(cohorts), len(actions), len(records)))
    seen = np.zeros((len(cohorts), len(actions), 1))
    for turn in turns:
        c, a = cohorts.row(turn.cohort) or 0, actions.row(turn.action) or 0
        seen[c, a] += 1.0
        for name in turn.records:
            hits[c, a, records.row(name) or 0] += 1.0
    wide = (hits.sum(axis=0) + 0.01) / (seen.sum(axis=0) + 1.0)
    return np.asarray((hits + wide) / (seen + 1.0))


def _asks(calls: Sequence[PastCall], closes: Floats, actions: Names, once: Floats) -> Floats:
    """By turn and by whether the turn before asked, each shrunk towards those shares that many turns have in common."""
    asked = np.zeros((len(closes), 2))
    there = np.zeros((len(closes), 2))
    for call in calls:
        s = 0
        for k, (turn, after) in enumerate(pairwise(call)):
            if not once[actions.row(turn.action) or 0]:
                s = int(turn.question is not None)
            there[k, s] += 1.0
            asked[k, s] += after.question is not None
    goes_on = 1.0 - closes[:, None]
    tries = np.maximum(there * goes_on, asked)
    return np.asarray(likely_shares(asked, tries) * goes_on)


def _topics(calls: Sequence[PastCall], cohorts: Names, questions: Names) -> Floats:
    steps = []
    for call in calls:
        last = -1
        for turn in call:
            row = questions.row(turn.question)
            if row is not None:
                steps.append(Step(cohorts.row(turn.cohort) or 0, last, row))
                last = row

    return next_question(steps, len(cohorts), len(questions), np.random.default_rng(0))


def _shrunk(counts: dict[K, Floats], base: Callable[[K], Floats]) -> dict[K, Floats]:
    """Each row of counts mixed with its base; how strongly is what makes all the rows together likeliest."""
    bases = {key: base(key) for key in counts}

    def evidence(strength: float) -> float:
        total = 0.0
        for key, row in counts.items():
            n = row.sum()
            if not n:
                continue
            total += math.lgamma(strength) - math.lgamma(strength + n)
            for count, p in zip(row[row > 0].tolist(), bases[key][row > 0].tolist(), strict=True):
                prior = max(strength * p, 1e-9)
                total += math.lgamma(prior + count) - math.lgamma(prior)
        return total

    best = max(CONCENTRATIONS, key=evidence)
    return {key: (row + best * bases[key]) / (row.sum() + best) for key, row in counts.items()}


def _unit(row: Floats) -> Floats:
    return np.asarray(row / max(float(row.sum()), 1e-12))

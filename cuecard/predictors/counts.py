"""Where decayed counts come from: the seam between the store of precedents and the predictor that reads it.

A prediction reads one row of counts per (kind, offset, context), a bounded number whatever the history. A finished turn
adds one to as many rows. Both sides take their keys from `contexts`, so they cannot drift apart.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from cuecard.predictors.types import UNLABELLED, SessionView, TurnView

Kind = Literal["action", "source", "state", "topic"]
HORIZON = 3

Context = tuple[str, ...]
"""A level's name, then the values it looks at; the action just taken first. ("sop",) is the whole procedure."""
Counts = Mapping[str, float]

LEVELS = ("sop", "last", "last2", "last3", "state", "cohort", "mood")
"""`last*` look at up to three actions; the others at the last action and one belief (mood: with its cohort)."""

HALF_LIFE_SESSIONS = 1500.0
"""Evidence this many sessions old counts half. Shorter half-lives lost accuracy on human calls (decision 0100)."""


class CountKey(NamedTuple):
    """One row of counts."""

    sop: str
    kind: Kind
    offset: int
    context: Context


class CountSource(Protocol):
    """Decayed counts by label for each key asked, in the order asked; an unseen key gives an empty mapping."""

    async def read(self, keys: Sequence[CountKey]) -> Sequence[Counts]: ...


class Increment(NamedTuple):
    """One to be added to `key`'s count of `label`."""

    key: CountKey
    label: str


@dataclass(frozen=True, slots=True)
class Situation:
    """What a context may be made of: the last actions (latest last) and what was believed when they had been taken."""

    actions: tuple[str, ...]
    state: str = ""
    mood: str = ""
    cohort: str = ""


def situation(view: SessionView) -> Situation:
    """The situation a view stands in, after its last agent turn."""
    state = view.turns[-1].state if view.turns else view.belief.likely_state
    actions = tuple(turn.action for turn in view.turns[-3:])
    return Situation(actions, state, view.belief.likely_mood, view.belief.likely_cohort)


def contexts(now: Situation) -> dict[str, Context]:
    """The context of each level that can be told in this situation, wide to narrow."""
    found: dict[str, Context] = {"sop": ("sop",)}
    if not now.actions:
        return found
    recent = now.actions[::-1]
    last = recent[0]
    for name, size in (("last", 1), ("last2", 2), ("last3", 3)):
        if len(recent) >= size:
            found[name] = (name, *recent[:size])
    if now.state:
        found["state"] = ("state", last, now.state)
    if now.cohort:
        found["cohort"] = ("cohort", last, now.cohort)
    if now.cohort and now.mood:
        found["mood"] = ("mood", last, now.cohort, now.mood)
    return found


def increments(sop: str, turns: Sequence[TurnView], cohort: str = "", mood: str = "") -> Iterator[Increment]:
    """What the last of `turns` teaches: as the +1 of the turn before it, the +2 of the one before that, and so on.

    Call it once per finished turn, with the call so far. `cohort` and `mood` are the beliefs held when it finished.
    """
    newest = turns[-1]
    labels: dict[Kind, str] = {"action": newest.label, "source": newest.source, "state": newest.state}
    for offset in range(1, HORIZON + 1):
        past = turns[: len(turns) - offset]
        if not past:
            return
        then = Situation(tuple(turn.action for turn in past[-3:]), past[-1].state, mood, cohort)
        levels = contexts(then)
        for kind, label in labels.items():
            if (label and label != UNLABELLED) or kind == "source":
                for context in levels.values():
                    yield Increment(CountKey(past[-1].sop or sop, kind, offset, context), label)


class MemoryCounts:
    """A CountSource that lives in one process: for evaluation, tests and calls without a store.

    Decay is forward and lazy: a row is scaled when it is touched, so that time passing costs nothing.
    """

    def __init__(self, half_life_sessions: float | None = HALF_LIFE_SESSIONS) -> None:
        self._half_life_sessions = half_life_sessions
        self._rows: dict[CountKey, dict[str, float]] = {}
        self._touched: dict[CountKey, int] = {}
        self.n_sessions = 0

    def end_session(self) -> None:
        """Time, for the purpose of decay, is the number of finished sessions."""
        self.n_sessions += 1

    def add(self, increment: Increment) -> None:
        self.count(*increment)

    def count(self, key: CountKey, name: str) -> None:
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = {}
        else:
            factor = self._factor(key)
            if factor != 1.0:
                for label in row:
                    row[label] *= factor
        self._touched[key] = self.n_sessions
        row[name] = row.get(name, 0.0) + 1.0

    async def read(self, keys: Sequence[CountKey]) -> Sequence[Counts]:
        return [self.row(key) for key in keys]

    def row(self, key: CountKey) -> Counts:
        row = self._rows.get(key)
        if row is None:
            return {}
        factor = self._factor(key)
        return row if factor == 1.0 else {label: count * factor for label, count in row.items()}

    def _factor(self, key: CountKey) -> float:
        if self._half_life_sessions is None:
            return 1.0
        age_sessions = self.n_sessions - self._touched[key]
        return float(0.5 ** (age_sessions / self._half_life_sessions))

"""Where decayed counts come from: the seam between the store of precedents and the predictor that reads it.

A prediction reads one row of counts per (kind, offset, context), a bounded number whatever the history. A finished turn
adds one to as many rows. Both sides take their keys from `contexts`, so they cannot drift apart.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from cuecard.belief.types import Belief, top
from cuecard.predictors.types import UNLABELLED, SessionView, TurnView

Kind = Literal["action", "source", "state", "topic"]
HORIZON = 3

Context = tuple[str, ...]
"""A level's name, then the values it looks at; the action just taken first. ("sop",) is the whole procedure."""
Counts = Mapping[str, float]

LEVELS = ("sop", "last", "last2", "last3", "act", "act2", "act3", "before", "state", "cohort", "mood", "due")
"""`last*` look at each turn's action, up to three; `act*` at single labelled acts, where a turn had several or none;
`before` at the last act and the procedure that was open before this one. The others look at the last action and one
belief (mood: with its cohort) or, for `due`, at the step that the procedure's own rules would take next."""

RECENT = 3
"""Turns, and acts, that a context looks back on."""
NOTHING_OPEN = "-"
"""Stands for the procedure of turns in which none was open yet."""

SURE = 0.5
"""A cohort or mood believed in with less than this narrows no context and is not counted (decision 0107)."""

HALF_LIFE_SESSIONS = 3000.0
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
    due: str = ""
    acts: tuple[str, ...] = ()
    """The labelled acts of those turns one by one, latest last, at most RECENT: a query is one, typed words none."""
    before: str = ""
    """The procedure that was open before the present one; "" when there was none."""


def situation(view: SessionView, due: str = "") -> Situation:
    """The situation a view stands in, after its last agent turn. `due`: the step that its rules would take next."""
    state = view.turns[-1].state if view.turns else view.belief.likely_state
    caller = sure_of(view.belief)
    return _situation(view.turns, state, caller.mood, caller.cohort, due)


def _situation(turns: Sequence[TurnView], state: str, mood: str, cohort: str, due: str) -> Situation:
    recent = turns[-RECENT:]
    acts = [act for turn in recent for act in dict.fromkeys((turn.label, turn.action)) if act != UNLABELLED]
    actions = tuple(turn.action for turn in recent)
    return Situation(actions, state, mood, cohort, due, tuple(acts[-RECENT:]), _opened_before(turns))


def _opened_before(turns: Sequence[TurnView]) -> str:
    """A call that never names a procedure goes through one only."""
    now = turns[-1].sop if turns else ""
    other = next((turn.sop for turn in reversed(turns) if turn.sop != now), None)
    return (other or NOTHING_OPEN) if other is not None else ""


class Caller(NamedTuple):
    """Who is believed to call, "" where nobody can say."""

    cohort: str
    mood: str


def sure_of(belief: Belief) -> Caller:
    """Cohort and mood as far as they are more likely than not: a guess must not narrow what is looked at."""
    cohort, mood = top(belief.cohort), top(belief.mood)
    return Caller(cohort.name if cohort.p >= SURE else "", mood.name.partition("/")[2] if mood.p >= SURE else "")


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
    acts = now.acts[::-1]
    for name, size in (("act", 1), ("act2", 2), ("act3", 3)):
        # Where every turn is one labelled act, the levels above have said it all.
        if len(acts) >= size and acts[:size] != recent[:size]:
            found[name] = (name, *acts[:size])
    if now.before:
        found["before"] = ("before", acts[0] if acts else last, now.before)
    if now.state:
        found["state"] = ("state", last, now.state)
    if now.cohort:
        found["cohort"] = ("cohort", last, now.cohort)
    if now.cohort and now.mood:
        found["mood"] = ("mood", last, now.cohort, now.mood)
    if now.due:
        found["due"] = ("due", last, now.due)
    return found


def increments(sop: str, turns: Sequence[TurnView], cohort: str = "", mood: str = "") -> Iterator[Increment]:
    """What the last of `turns` teaches: as the +1 of the turn before it, the +2 of the one before that, and so on.

    Call it once per finished turn, with the call so far. `cohort` and `mood` are the beliefs held when it finished.
    """
    for offset in range(1, min(HORIZON, len(turns) - 1) + 1):
        past = turns[: len(turns) - offset]
        yield from _seen_from(past, turns[-1], offset, sop, cohort, mood)


def call_increments(sop: str, turns: Sequence[TurnView]) -> Iterator[Increment]:
    """What a whole call teaches: the same as `increments` after each of its turns, without beliefs."""
    for index in range(len(turns) - 1):
        past = turns[: index + 1]
        for offset, target in enumerate(turns[index + 1 : index + 1 + HORIZON], start=1):
            yield from _seen_from(past, target, offset, sop, "", "")


def _seen_from(
    past: Sequence[TurnView], target: TurnView, offset: int, sop: str, cohort: str, mood: str
) -> Iterator[Increment]:
    levels = contexts(_situation(past, past[-1].state, mood, cohort, past[-1].due)).values()
    sop = past[-1].sop or sop
    labels: list[tuple[Kind, str]] = [("source", target.source)]
    if target.label and target.label != UNLABELLED:
        labels.append(("action", target.label))
    if target.state:
        labels.append(("state", target.state))
    for kind, label in labels:
        for context in levels:
            yield Increment(CountKey(sop, kind, offset, context), label)


class MemoryCounts:
    """A CountSource that lives in one process: for evaluation, tests and calls without a store.

    Decay is forward: new events weigh more instead of old ones less, so that time passing costs nothing.
    """

    _HEAVIEST = 1e200

    def __init__(self, half_life_sessions: float | None = HALF_LIFE_SESSIONS) -> None:
        self._growth = 2.0 ** (1.0 / half_life_sessions) if half_life_sessions is not None else 1.0
        self._weight = 1.0
        self._rows: dict[CountKey, dict[str, float]] = {}
        self._scaled: dict[CountKey, Counts] = {}

    def end_session(self) -> None:
        """Time, for the purpose of decay, is the number of finished sessions."""
        self._weight *= self._growth
        self._scaled.clear()
        if self._weight > self._HEAVIEST:
            for row in self._rows.values():
                for label in row:
                    row[label] /= self._weight
            self._weight = 1.0

    def add(self, increment: Increment) -> None:
        self.count(*increment)

    def count(self, key: CountKey, name: str) -> None:
        row = self._rows.setdefault(key, {})
        row[name] = row.get(name, 0.0) + self._weight
        self._scaled.pop(key, None)

    async def read(self, keys: Sequence[CountKey]) -> Sequence[Counts]:
        return [self.row(key) for key in keys]

    def row(self, key: CountKey) -> Counts:
        found = self._scaled.get(key)
        if found is None:
            row = self._rows.get(key, {})
            found = row if self._weight == 1.0 else {label: count / self._weight for label, count in row.items()}
            self._scaled[key] = found
        return found

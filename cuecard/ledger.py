"""What a call cost and what working ahead saved: a view of its event log, and of nothing else.

Times are the session's clock. Fetches are background ones; live ones are counted apart. A background fetch is wasted
when no turn used what it brought; fetched again, it counts again.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cuecard.events import (
    Believed,
    Decided,
    Degraded,
    Event,
    Forecasted,
    Heard,
    NeedResolved,
    Picked,
    SessionEnded,
    SessionStarted,
    Spoke,
    Wrote,
)
from cuecard.prefetch.events import FetchStarted

FELT_S = 0.0005
"""Shorter waits are rounding of the clock."""


@dataclass(slots=True)
class TurnEntry:
    """One turn of the agent: what was heard, thought, ready, waited for and said."""

    turn: int
    words: str = ""
    cohort: str = ""
    mood: str = ""
    state: str = ""
    p_state: float = 0.0
    action: str = ""
    tier: str = ""
    reason: str = ""
    picks: list[dict[str, Any]] = field(default_factory=list)
    needs: list[NeedResolved] = field(default_factory=list)
    ahead: list[str] = field(default_factory=list)
    """Dependencies whose background fetch began after this turn's words and before the next ones were final."""
    said: str = ""
    overhead_ms: float = 0.0
    at_s: float = 0.0
    """When the words were final."""

    @property
    def stall_s(self) -> float:
        """Seconds somebody waited: needs that are met side by side count once."""
        return waited_s((need.at_s - need.stall_s, need.at_s) for need in self.needs)

    @property
    def why(self) -> str:
        """Why the caller waited, or why not."""
        slow = [need for need in self.needs if need.stall_s > FELT_S]
        if slow:
            return "; ".join(f"{need.dep} {need.stall_s:.1f} s ({need.how}): {need.reason}" for need in slow)
        if self.needs:
            return "; ".join(f"{need.dep} {need.how}: {need.reason}" for need in self.needs)
        return "nothing was needed"

    def to_json(self) -> dict[str, Any]:
        return {
            "turn": self.turn,
            "at_s": round(self.at_s, 3),
            "words": self.words,
            "belief": {
                "cohort": self.cohort,
                "mood": self.mood,
                "state": self.state,
                "p_state": round(self.p_state, 3),
            },
            "action": self.action,
            "tier": self.tier,
            "reason": self.reason,
            "picks": self.picks,
            "needs": [
                {"dep": need.dep, "how": need.how, "stall_s": round(need.stall_s, 3), "lead_turns": need.lead_turns}
                for need in self.needs
            ],
            "stall_s": round(self.stall_s, 3),
            "why": self.why,
            "ahead": self.ahead,
            "reply": self.said,
        }


@dataclass(slots=True)
class Ledger:
    """The books of one session."""

    sop: str = ""
    session_id: str = ""
    outcome: str = ""
    ended_because: str = ""
    turns: list[TurnEntry] = field(default_factory=list)
    fetches: int = 0
    """Background fetches started."""
    live: int = 0
    """Fetches started because a caller was waiting."""
    used: int = 0
    """Background fetches whose item a turn used, or whose landing it waited for."""
    hits: list[int] = field(default_factory=list)
    """One number a non-write need: turns between the forecast that fetched it and its use; 0 where that was not so."""
    wrote: list[Wrote] = field(default_factory=list)
    degraded: list[Degraded] = field(default_factory=list)
    tokens: int = 0

    @property
    def stall_s(self) -> float:
        return sum(turn.stall_s for turn in self.turns)

    @property
    def wasted(self) -> int:
        return self.fetches - self.used

    @property
    def needs(self) -> Counter[str]:
        """How needs were met: ready, joined, live, missing, write."""
        return Counter(need.how for turn in self.turns for need in turn.needs)

    @property
    def tiers(self) -> dict[str, float]:
        """Share of turns by who decided."""
        counts = Counter(turn.tier for turn in self.turns if turn.tier)
        total = sum(counts.values())
        return {tier: n / total for tier, n in sorted(counts.items())}

    def hit_at(self, k: int) -> tuple[int, int]:
        """Needs found ready from a forecast at least `k` turns old, and all non-write needs."""
        return sum(lead >= k for lead in self.hits), len(self.hits)

    def to_json(self) -> dict[str, Any]:
        return {
            "sop": self.sop,
            "session_id": self.session_id,
            "turns": len(self.turns),
            "outcome": self.outcome,
            "stall_s": round(self.stall_s, 3),
            "needs": dict(sorted(self.needs.items())),
            "fetches": self.fetches,
            "live": self.live,
            "wasted": self.wasted,
            "tier_share": self.tiers,
            "writes": [{"dep": write.dep, "ok": write.ok} for write in self.wrote],
            "degraded": [{"part": one.part, "reason": one.reason} for one in self.degraded],
            "tokens": self.tokens,
        }


def ledger_of(events: Iterable[Event]) -> Ledger:
    """The books as the log tells them; a log cut off in the middle gives the books up to there."""
    book = Ledger()
    started: Counter[tuple[str, str]] = Counter()
    used: set[tuple[str, str, int]] = set()
    entries: dict[int, TurnEntry] = {}

    for event in events:
        entry = entries.get(event.turn)
        if entry is None and isinstance(event, Heard | Decided | NeedResolved | Spoke | Picked):
            entry = entries.setdefault(event.turn, TurnEntry(event.turn, at_s=event.at_s))
        match event:
            case FetchStarted(background=True):
                started[event.dep, event.key] += 1
                if entry is not None:
                    entry.ahead.append(event.dep)
                book.fetches += 1
            case FetchStarted():
                book.live += 1
            case NeedResolved() if entry is not None:
                entry.needs.append(event)
                source = event.fetched_dep or event.dep, event.fetched_as
                if event.how in {"ready", "joined"} and started[source]:
                    used.add((*source, started[source]))
                if event.how != "write":
                    early = event.how == "ready" and event.asked_by in {"forecast", "refresh"}
                    book.hits.append(event.lead_turns if early else 0)
            case _ if entry is not None:
                _fill(entry, event)
        _note(book, event)
        if isinstance(event, Believed) and event.turn in entries:
            entries[event.turn].cohort, entries[event.turn].mood = event.cohort, event.mood
    book.used = len(used)
    book.turns = [entries[turn] for turn in sorted(entries) if entries[turn].action or entries[turn].needs]
    return book


def _fill(entry: TurnEntry, event: Event) -> None:
    match event:
        case Heard(final=True):
            entry.words, entry.at_s = event.text, event.at_s
        case Picked():
            entry.picks = event.items
        case Decided():
            entry.action, entry.tier, entry.reason = event.action, event.tier, event.reason
            entry.state, entry.p_state = event.state, event.p_state
        case Spoke(heard=None):
            entry.said, entry.overhead_ms = event.text, event.first_word_ms
            entry.action = event.action


def _note(book: Ledger, event: Event) -> None:
    match event:
        case SessionStarted():
            book.sop, book.session_id = event.procedure, event.session_id
        case SessionEnded():
            book.outcome, book.ended_because = event.outcome, event.reason
        case Forecasted():
            book.tokens += event.tokens
        case Wrote():
            book.wrote.append(event)
        case Degraded():
            book.degraded.append(event)


def waited_s(spans: Iterable[tuple[float, float]]) -> float:
    """Length of the union of these intervals."""
    total, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total if total > FELT_S else 0.0


def percentile(values: Sequence[float], q: float) -> float:
    """The q-th percentile (0-100) by nearest rank; 0 of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q / 100.0 * len(ordered)))] if ordered else 0.0

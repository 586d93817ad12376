"""What happened in a session, typed, timed and with reasons: the only source of ledger, console, replay and metrics."""

import dataclasses
import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson

_log = logging.getLogger(__name__)

_TYPES: dict[str, type["Event"]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened at `at_s` of the session's clock, in agent turn `turn` (0 before the first)."""

    at_s: float = 0.0
    turn: int = 0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # A slotted dataclass is created twice; the later, slotted class takes the name.
        super(Event, cls).__init_subclass__(**kwargs)
        _TYPES[cls.__name__] = cls

    def to_json(self) -> dict[str, Any]:
        # Read through dataclasses.fields: asdict would deep-copy every payload on the turn.
        return {"type": type(self).__name__} | {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}


def from_json(row: dict[str, Any]) -> Event:
    """The event back from a log line; unknown fields are dropped, so that old readers survive new logs."""
    cls = _TYPES[row["type"]]
    known = {f.name for f in dataclasses.fields(cls)}
    return cls(**{name: value for name, value in row.items() if name in known})


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted(Event):
    session_id: str
    tenant: str
    procedure: str
    version: int
    prefetch: str
    resumed: bool = False
    wall_at: float = 0.0
    """Unix seconds, to place the session in time; all other times are the session's clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard(Event):
    """The caller's words; `final` once the end of the utterance is known."""

    text: str
    final: bool
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked(Event):
    """What *recall* laid before the responder."""

    items: list[dict[str, Any]]
    """Each: id, dep, kind, cosine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided(Event):
    action: str
    tier: str
    """prewritten, playbook, single_call, search, or rules (no model is configured, or it failed)."""
    reason: str
    state: str = ""
    p_state: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoke(Event):
    """The agent's words, complete; `heard` is shorter after a barge-in."""

    text: str
    action: str
    first_word_ms: float = 0.0
    """Final words to first word out, stalls and a model's own time excluded: our overhead."""
    model_ms: float = 0.0
    heard: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedResolved(Event):
    """How a need of this turn was met, and why so."""

    dep: str
    key: str
    how: str
    """ready, joined, live, missing, or write."""
    stall_s: float
    reason: str
    lead_turns: int = 0
    """Agent turns between the forecast that asked for it and its use; 0 when it was fetched live."""
    latency_s: float = 0.0
    """What the caller would have waited had nothing been fetched early."""
    item_id: str = ""
    fetched_as: str = ""
    """Arguments of the fetch that brought the item, which may be another question's."""
    fetched_dep: str = ""
    """Dependency of that fetch where it is not `dep`: two may search one corpus."""
    asked_by: str = ""
    """Who asked for that fetch: forecast, fact, partial, refresh or live."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrote(Event):
    """A write that was executed, once, under this idempotency key."""

    dep: str
    idempotency_key: str
    ok: bool
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Believed(Event):
    cohort: str
    p_cohort: float
    mood: str
    p_mood: float
    state: str
    p_state: float
    p_change: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecasted(Event):
    by: str
    actions: list[dict[str, float]]
    utterances: list[dict[str, Any]]
    ms: float = 0.0
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FactLearned(Event):
    """A slot was filled or corrected. The value stays out of the log unless content is asked for."""

    fact: str
    corrected: bool
    value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassEnded(Event):
    """A supervisor pass finished, was superseded by newer words, or failed."""

    for_turn: int
    how: str
    """published, superseded, stale, or failed."""
    reason: str = ""
    took_s: float = 0.0
    pool_size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Degraded(Event):
    """Something failed and the call went on without it."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded(Event):
    outcome: str
    reason: str = ""


Listener = Callable[[Event], None]


@dataclass
class EventLog:
    """Append-only, in order, in memory; written to a JSON-lines file by whoever owns the session, off the turn."""

    clock: Callable[[], float]
    events: list[Event] = field(default_factory=list)
    listeners: list[Listener] = field(default_factory=list)
    turn: int = 0
    path: Path | None = None
    _written: int = 0
    _flushing: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def emit(self, event: Event) -> Event:
        """Stamp time and turn if they were left at zero, keep it, tell the listeners."""
        stamped = dataclasses.replace(event, at_s=event.at_s or self.clock(), turn=event.turn or self.turn)
        self.events.append(stamped)
        for listener in self.listeners:
            listener(stamped)
        return stamped

    def flush(self) -> None:
        """Append what is new to the file, from any thread: a turn and a pass may both be at it.

        A file that cannot be written is logged and tried again the next time; the call goes on.
        """
        with self._flushing:
            if self.path is None or self._written == len(self.events):
                return
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("a+b") as file:
                    if self._written == 0:
                        _end_line(file)
                    self._written += write_lines(file, self.events[self._written :])
            except OSError as error:
                _log.error("an event log cannot be written: %s", error)

    def of(self, *types: type[Event]) -> Iterator[Event]:
        return (event for event in self.events if isinstance(event, types))


def _end_line(file: BinaryIO) -> None:
    """A process that died while it wrote left half a line, which must not swallow ours."""
    if file.seek(0, os.SEEK_END):
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")


def write_lines(file: BinaryIO, events: Iterable[Event]) -> int:
    """One JSON object a line; returns how many."""
    n = 0
    for event in events:
        file.write(orjson.dumps(event.to_json(), option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE))
        n += 1
    return n


def read_lines(path: Path) -> list[Event]:
    """The events of a log; a line cut off by a crash is skipped."""
    events = []
    # Split at newlines only: `splitlines` would also cut at characters that JSON leaves in its strings.
    for line in path.read_bytes().split(b"\n"):
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        events.append(from_json(row))
    return events

"""What the prefetcher did and why, as events of the session's log."""

from dataclasses import dataclass

from cuecard.events import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchPlanned(Event):
    """The scheduler's word on one candidate: fetch, refresh, hold (not worth it yet) or drop (no longer)."""

    dep: str
    key: str
    what: str
    reason: str
    p_use: float = 0.0
    value_s: float = 0.0
    for_action: str = ""
    for_offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchStarted(Event):
    dep: str
    key: str
    origin: str
    """forecast, fact, partial, refresh or live."""
    background: bool
    for_action: str = ""
    for_offset: int = 0
    p_use: float = 0.0
    value_s: float = 0.0
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchEnded(Event):
    """A fetch landed or came to nothing; `how` is "landed" or the reason of the `Missing`."""

    dep: str
    key: str
    how: str
    took_s: float
    background: bool
    n_items: int = 0
    attempts: int = 1
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchUsed(Event):
    """A background fetch was worth it: a turn needed what it brought (told once per fetch)."""

    dep: str
    key: str
    item_id: str
    lead_turns: int

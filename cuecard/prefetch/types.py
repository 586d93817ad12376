"""The words of prefetching: what may be fetched, under which key, and what came back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import orjson

from cuecard.pool.item import Item, Kind, Origin, Scope, Vector
from sops.models import Dependency

__all__ = [
    "FetchCall",
    "FetchJob",
    "FetchKey",
    "FetchResult",
    "Fetched",
    "Item",
    "Kind",
    "Missing",
    "Origin",
    "Outcome",
    "Reason",
    "Record",
    "Scope",
    "Vector",
    "canonical",
    "owner_of",
]

Reason = Literal["timeout", "failed", "breaker_open", "budget", "withdrawn", "refused", "junk", "in_doubt", "closed"]


class FetchKey(NamedTuple):
    """Identity of one fetch: two equal keys are one piece of work, and nothing else is.

    `owner` is where scope becomes visible: "shared", "tenant/acme" or "session/acme/s1". Two callers'
    account look-ups can therefore never be one flight, whatever their arguments.
    """

    owner: str
    dep: str
    args: str
    epoch: int = 0
    """Sum of the corrections of the facts used: what was asked before a correction is another question."""


def owner_of(scope: Scope, tenant: str, session: str) -> str:
    """The `owner` part of a key; names are escaped, so that no tenant can spell another's."""
    if scope == "shared":
        return "shared"
    parts = [tenant] if scope == "tenant" else [tenant, session]
    return "/".join([scope, *map(_escaped, parts)])


def _escaped(name: str) -> str:
    return name.replace("%", "%25").replace("/", "%2F").replace(":", "%3A")


def canonical(args: Mapping[str, Any], query: str = "") -> str:
    """Arguments as one string that doesn't depend on their order."""
    whole = {**args, "?": query} if query else dict(args)
    return orjson.dumps(whole, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str).decode()


@dataclass(frozen=True, slots=True)
class FetchCall:
    """What a fetcher is given: the declaration, and values for its slots. It knows no session."""

    dep: str
    spec: Dependency
    args: Mapping[str, str] = field(default_factory=dict)
    query: str = ""
    vector: Vector | None = None
    """The query's embedding, when somebody already has it."""
    idempotency_key: str | None = None
    """Set on writes only."""
    k: int | None = None
    """How many passages a search is to bring; None: as many as it declares."""


@dataclass(frozen=True, slots=True)
class Record:
    """One thing that came back: a row, a passage, a tool's answer."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    """Stable identity (a document's id); empty for what is identified by dependency and arguments."""
    vector: Vector | None = None
    score: float | None = None
    pieces: Vector | None = None
    """Rows of its sentences, for the pool to rank it by."""


@dataclass(frozen=True, slots=True)
class FetchResult:
    """What a fetcher returns; no records means "looked, and there is nothing", which is an answer."""

    records: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class FetchJob:
    """A wish to fetch: for whom, what for, and what it is worth."""

    key: FetchKey
    call: FetchCall
    tenant: str = "default"
    session: str = ""
    verified: bool = False
    """Whether the session's identity was verified when this was asked for."""
    facts: frozenset[str] = frozenset()
    """Names of the facts its arguments come from: correcting one makes the result worthless."""
    origin: Origin = "forecast"
    for_action: str = ""
    for_offset: int = 0
    asked_turn: int = 0
    """Agent turn during which it was asked for, so that a later use knows its lead."""
    p: float = 0.0
    """P(used before it expires), as believed when it was asked for."""
    value_s: float = 0.0
    """Stall-seconds it is expected to save, price already paid; orders the queue."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A fetch that came back, as items of the session that asked."""

    items: tuple[Item, ...]
    took_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Missing:
    """A fetch that came to nothing. An outcome, not an exception: the caller's turn goes on."""

    dep: str
    reason: Reason
    detail: str = ""


Outcome = Fetched | Missing

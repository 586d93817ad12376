"""One thing the responder may be shown: a record, a passage, a fact of the caller's, or a reply written beforehand."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
Kind = Literal["data", "instruction"]
Scope = Literal["session", "tenant", "shared"]
Origin = Literal["forecast", "fact", "partial", "refresh", "live", "caller"]
"""Who asked: a forecast, a fact that became known, the caller's unfinished words, an item about to expire,
the turn itself, or the caller (what they told us about themselves)."""


@dataclass(slots=True)
class Item:
    """What the responder may be shown. Text and metadata belong together: they are only ever replaced as a whole."""

    id: str
    dep: str
    text: str
    kind: Kind = "data"
    data: dict[str, Any] = field(default_factory=dict)
    vector: Vector | None = None
    """Of the whole; what is compared with a floor is always this one's cosine."""
    fetched_at_s: float = 0.0
    expires_at_s: float = float("inf")
    args: str = ""
    """Canonical arguments (see `canonical`); with `dep` they say which question this answers."""
    facts: frozenset[str] = frozenset()
    pinned: bool = False
    scope: Scope = "session"
    tenant: str = "default"
    session: str = ""
    for_action: str = ""
    for_offset: int = 0
    asked_turn: int = 0
    p: float = 0.0
    origin: Origin = "live"
    epoch: int = 0
    latency_s: float = 0.0
    """What fetching it took: what a caller would have waited without it."""
    uses: int = 0
    title: str = ""
    pieces: Vector | None = None
    """Rows of its sentences (see `pieces_of`), at most `MOST_PIECES`; None where only the whole is known."""

    def fresh(self, now_s: float) -> bool:
        return now_s < self.expires_at_s

    def nearness(self, vector: Vector) -> float:
        """Cosine of the whole or of the piece that comes nearest; -1 where nothing was embedded."""
        if self.vector is None:
            return -1.0
        whole = float(self.vector @ vector)
        return whole if self.pieces is None else max(whole, float((self.pieces @ vector).max()))

    def to_json(self, now_s: float = 0.0) -> dict[str, Any]:
        """Plain JSON; times become ages, because another process has another clock."""
        row = {f.name: getattr(self, f.name) for f in fields(self)}
        row["facts"] = sorted(self.facts)
        row["vector"] = None if self.vector is None else base64.b64encode(self.vector.tobytes()).decode()
        # Pieces would be most of a snapshot that is written in every pass; without them the whole still ranks it.
        del row["pieces"]
        row["fetched_at_s"] = self.fetched_at_s - now_s
        row["expires_at_s"] = None if self.expires_at_s == float("inf") else self.expires_at_s - now_s
        return row

    @classmethod
    def from_json(cls, row: Mapping[str, Any], now_s: float = 0.0, away_s: float = 0.0) -> "Item":
        """The item back, `away_s` seconds older than when it was saved."""
        known = {f.name for f in fields(cls)}
        values = {name: value for name, value in row.items() if name in known}
        values["facts"] = frozenset(row.get("facts") or ())
        vector = row.get("vector")
        values["vector"] = None if vector is None else np.frombuffer(base64.b64decode(vector), np.float32)
        # Rows written for a while had packed pieces.
        values.pop("pieces", None)
        values["fetched_at_s"] = row.get("fetched_at_s", 0.0) + now_s - away_s
        left = row.get("expires_at_s")
        values["expires_at_s"] = float("inf") if left is None else left + now_s - away_s
        return cls(**values)

"""What is kept of a past turn, and what comes back when a similar one is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Precedent:
    """One finished turn, ready to be kept: the caller's words and state, then what the agent did.

    (tenant, session, turn) names it; a second one with the same name changes nothing, unless it is `instead` of it.
    """

    tenant: str
    session: str
    turn: int
    sop: str
    action: str
    at: float
    """Unix seconds; retention counts from the session's first turn."""
    sop_version: int = 1
    cohort: str = ""
    mood: str = ""
    state: str = ""
    source: str = ""
    """Data source the agent consulted this turn ("" for none)."""
    due: str = ""
    """Step that the procedure's rules expected next once this turn was over; "" where nobody can say."""
    utterance: str = ""
    reply: str = ""
    question: bool = False
    """The utterance asks something that other callers may ask too: it joins the question bank."""
    topic: str = ""
    """What the question was about, best the id of the document that answered it; "": found by likeness to others."""
    embedding: Vector | None = None
    """Unit vector of the utterance; None: the turn is counted but cannot be found by its words."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Personal facts known by now. Never stored: their values are taken out of the words."""
    outcome: str = ""
    """What the call came to, when already known; `set_outcome` says it later."""
    instead: bool = False
    """The turn kept under this number was taken back, and this one stands in its place."""


class Similar(NamedTuple):
    """A past turn that resembles the present one, best first."""

    score: float
    """Cosine of the words plus what the agreement of state, mood and step adds."""
    cosine: float
    session: str
    turn: int
    cohort: str
    mood: str
    state: str
    after: str
    """The agent's action just before the caller spoke ("" at the start)."""
    action: str
    """What the agent did then."""
    utterance: str
    reply: str
    outcome: str
    """"" while nobody has said how that call ended."""

"""The seam between whoever predicts and whoever uses the prediction."""

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from cuecard.belief.types import Belief, Distribution

Vector = npt.NDArray[np.float32]


UNLABELLED = "freeform"
"""Action of a turn in which the agent typed words without a label: history, never a target."""


class TurnView(NamedTuple):
    """One finished exchange: what the caller said and was doing, and what the agent then did."""

    utterance: str
    state: str
    action: str
    reply: str = ""
    source: str = ""
    """Data source the agent consulted this turn ("" for none)."""
    embedding: Vector | None = None
    reply_embedding: Vector | None = None
    first: str = ""
    """Label of the turn's first act where it is not `action`: a query before the sentence that tells its result."""
    sop: str = ""
    """Procedure the agent had open ("" for the session's own): one call may wander through several."""
    fetched: tuple[str, ...] = ()
    """What the turn's fetches were given and gave back, as short `name=value` marks."""
    due: str = ""
    """Step that the procedure's rules expected next when this turn was over; "" where they do not know the desk."""

    @property
    def label(self) -> str:
        """What a forecast for this turn should have said."""
        return self.first or self.action


@dataclass(frozen=True, slots=True)
class SessionView:
    """All that a predictor may look at: the call so far, never its future."""

    sop: str
    turns: tuple[TurnView, ...] = ()
    belief: Belief = field(default_factory=Belief)
    facts: frozenset[str] = frozenset()
    """Names (not values) of the facts known so far."""
    verified: bool = False
    done: frozenset[str] = frozenset()
    """Actions of the procedure that are finished and need not come again."""
    tenant: str = "default"

    @property
    def actions(self) -> tuple[str, ...]:
        return tuple(turn.action for turn in self.turns)


class Utterance(NamedTuple):
    """A sentence the caller may say `offset` agent turns from now, with its probability."""

    text: str
    p: float
    offset: int = 1
    origin: str = ""
    """Who imagined it: "bank", "llm", "mcts", "examples", ..."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Distributions at +1..+horizon: index 0 is +1, the next agent turn. Missing tails are empty lists."""

    actions: tuple[Distribution, ...] = ()
    states: tuple[Distribution, ...] = ()
    sources: tuple[Distribution, ...] = ()
    utterances: tuple[Utterance, ...] = ()
    p_change: float = 0.5
    evidence: float = 0.0
    """Decayed turns counted in the present context (procedure, last action): 0 where the graph speaks alone."""
    by: str = ""
    """Name of the predictor (and its parts) that made it."""
    tokens: int = 0
    """Model tokens spent, both ways; 0 for predictors without a model."""
    ms: float = 0.0
    """Wall milliseconds it took."""

    def p_action_within(self, action: str, horizon: int = 3) -> float:
        """P(action occurs at one of the next `horizon` turns), taking offsets as independent."""
        miss = 1.0
        for distribution in self.actions[:horizon]:
            miss *= 1.0 - distribution.get(action, 0.0)
        return 1.0 - miss


class Predictor(Protocol):
    """Says what comes next. It never raises for an unknown procedure, action or state: it says less."""

    async def predict(self, view: SessionView, horizon: int = 3) -> Forecast: ...

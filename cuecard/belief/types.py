"""What the supervisor believes about the caller, with probabilities."""

from dataclasses import dataclass, field
from typing import NamedTuple

Distribution = dict[str, float]
"""Names to probabilities that add up to 1 (or an empty dict: nothing is known)."""


class Top(NamedTuple):
    name: str
    p: float


def top(distribution: Distribution) -> Top:
    """The likeliest name and its probability; ("", 0.0) when nothing is known."""
    if not distribution:
        return Top("", 0.0)
    name = max(distribution, key=lambda key: distribution[key])
    return Top(name, distribution[name])


@dataclass(frozen=True, slots=True)
class Belief:
    """Who is calling (cohort), how they feel (mood) and what they just did (state).

    `mood` is joint with the cohort: its keys are "cohort/mood", so summing over a cohort's moods gives `cohort`.
    `p_change` is P(the caller's next state differs from this one).
    """

    cohort: Distribution = field(default_factory=dict)
    mood: Distribution = field(default_factory=dict)
    state: Distribution = field(default_factory=dict)
    p_change: float = 0.5

    @property
    def likely_cohort(self) -> str:
        return top(self.cohort).name

    @property
    def likely_mood(self) -> str:
        return top(self.mood).name.partition("/")[2]

    @property
    def likely_state(self) -> str:
        return top(self.state).name

    def to_json(self) -> dict[str, object]:
        return {"cohort": self.cohort, "mood": self.mood, "state": self.state, "p_change": self.p_change}

    @classmethod
    def from_json(cls, data: dict[str, object]) -> "Belief":
        return cls(**data)  # type: ignore[arg-type]

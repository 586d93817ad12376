"""What callers of a procedure want and how they say it: one YAML file a procedure, over a common one.

Written apart from the procedure's examples and from every labelled set: a test holds that no five words in a row are
shared, so that a caller never speaks the classifier's own sentences back to it.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from evals.callers.spoken import Form
from sops import plain_yaml

FOLDER = Path(__file__).parent / "wording"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Numbers(_Model):
    """An amount drawn evenly from `low` to `high` in steps."""

    low: int
    high: int
    step: int = 1


class FactWords(_Model):
    """Where a fact of this person comes from, and the sentences it is given in."""

    column: str = ""
    """`table.column` of the back office; "key" for the row's key."""
    numbers: Numbers | None = None
    values: dict[str, float] = Field(default_factory=dict)
    """Value to weight, where the person may choose."""
    form: Form = "asis"
    spoken: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Value to the ways it is said; the value itself (in its form) when empty."""
    says: tuple[str, ...]
    """Sentences with `{value}`."""
    p_wrong: float = 0.0
    """How often the caller first gives another value and puts it right later."""


class Goal(_Model):
    """Something people call for."""

    weight: float
    cohorts: dict[str, float] = Field(default_factory=dict)
    """Weight within a cohort, where it differs."""
    ends: Literal["done", "closed", "person"]
    """What counts as reached: the procedure's success, a proper close, or being put through."""
    opens: tuple[str, ...]
    insists: tuple[str, ...] = ()
    """Said when the agent asks on although this caller only wanted to say or ask something."""
    facts: dict[str, str] = Field(default_factory=dict)
    """Facts that this goal settles."""
    lacks: tuple[str, ...] = ()
    """Facts that this caller cannot know; asked for one, they insist."""
    cooperates: bool = False
    """Answers what is asked on the way to a person, instead of asking for one at once."""
    n_questions: tuple[float, ...] = (0.35, 0.35, 0.2, 0.1)
    """Weights of having 0, 1, 2, ... questions."""


class Wording(_Model):
    """Everything a caller of one procedure may want, know and say."""

    goals: dict[str, Goal] = Field(min_length=1)
    haggles: bool = True
    """Whether offers are objected to; no where the procedure has nothing to haggle over."""
    facts: dict[str, FactWords] = Field(default_factory=dict)
    traits: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Mood (or cohort) to what it does to behaviour: names of `evals.callers.traits`."""
    lines: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Act to the sentences for it."""
    offers: dict[str, str] = Field(default_factory=dict)
    """Action that offers something to choose from, to the fact a caller changes who wants none of it."""
    questions: tuple[str, ...] = ()
    """Own questions, asked only where no question set of the corpus is at hand."""


def load_wording(procedure: str) -> Wording:
    """The callers of a procedure. One without a file of its own gets the common lines and a single goal: to be done."""
    return _load(procedure)


@lru_cache(maxsize=16)
def _load(procedure: str) -> Wording:
    common = _read(FOLDER / "common.yaml")
    path = FOLDER / f"{procedure}.yaml"
    own = _read(path) if path.is_file() and path.parent == FOLDER else {}
    lines = {**common["lines"], **own.get("lines", {})}
    traits = {**common["traits"], **own.get("traits", {})}
    return Wording.model_validate({"goals": common["goals"], **own, "lines": lines, "traits": traits})


def _read(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = plain_yaml.load(path.read_text(encoding="utf-8"))
    return data

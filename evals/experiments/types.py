"""What an experiment is made of: units that are played, rows they leave, measures for the bar, a report's sections."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from evals.experiments.tools import Tools

PROCEDURES = ("insurance_renewal", "card_activation", "medical_booking")
SEED_BASE = 500_000

Row = dict[str, Any]
"""One recorded event of a run: JSON, and all that measures and reports may look at."""
Unit = dict[str, Any]
"""The smallest part of a run that can be resumed; its `key` names it."""


@dataclass(frozen=True, slots=True)
class Options:
    """What somebody who runs experiments may choose."""

    procedures: tuple[str, ...] = PROCEDURES
    seed_base: int = SEED_BASE
    seeds: int | None = None
    """Calls of each procedure; None: what the experiment's profile says."""
    quick: bool = False
    data: Path | None = None
    """Folder or file of recorded human calls, for experiments that need them."""
    workers: int = 2

    def calls(self, full: int, quick: int) -> range:
        """The seeds to play."""
        n = self.seeds if self.seeds is not None else quick if self.quick else full
        return range(self.seed_base, self.seed_base + n)


class Measure(NamedTuple):
    """A figure with its 95 % interval and how many things were counted."""

    value: float | None
    low: float
    high: float
    n: int


class Series(NamedTuple):
    """One line or group of bars; `low` and `high` are 95 % intervals where there are any."""

    name: str
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture as data: it is drawn later, in light and dark."""

    title: str
    x_label: str
    y_label: str
    """With its unit."""
    x: Sequence[str | float]
    series: Sequence[Series]
    kind: Literal["bars", "lines"] = "bars"
    log_x: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, a few sentences, a table and a picture, any of which may be left out."""

    title: str
    text: str = ""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    plot: Plot | None = None


Play = Callable[[Unit, "Tools"], Awaitable[list[Row]]]


@dataclass(frozen=True, slots=True)
class Experiment:
    """One experiment; its bar lies beside it in `bar.yaml`. Everything but `play` is a function of the rows alone."""

    name: str
    units: Callable[[Options], list[Unit]]
    play: Play
    measures: Callable[[Sequence[Row]], dict[str, Measure]]
    """By the names that the bar uses, at least."""
    figures: Callable[[Sequence[Row]], dict[str, Any]]
    """What `cuecard eval NAME --json` prints."""
    sections: Callable[[Sequence[Row]], list[Section]]
    data: str = "simulated"
    """Who spoke: simulated callers, or people."""
    parallel: bool = True
    """False for runs of seconds, which two processes would only make slower."""
    policies: tuple[str, ...] = field(default=())


class CannotRun(Exception):
    """Something the experiment cannot do without is missing; the message is its verdict."""

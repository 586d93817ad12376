"""Holds a run's measures against its bar: met, missed, or not run."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from evals.experiments.bars import Bar, Limit
from evals.experiments.types import Measure

MET, MISSED, NOT_MEASURED = "met", "missed", "not measured"


class Judged(NamedTuple):
    limit: Limit
    measure: Measure
    verdict: str


class Verdict(NamedTuple):
    """All limits of one bar; the first is the headline, and one missed is all missed."""

    experiment: str
    judged: tuple[Judged, ...]
    enough: bool
    """Whether as many things were counted as the bar asks for."""

    @property
    def verdict(self) -> str:
        verdicts = [one.verdict for one in self.judged]
        return MISSED if MISSED in verdicts else NOT_MEASURED if NOT_MEASURED in verdicts else MET

    def to_json(self) -> dict[str, Any]:
        first = self.judged[0]
        return {
            "name": self.experiment,
            "bar": str(first.limit),
            "value": first.measure.value,
            "ci": [plain(first.measure.low), plain(first.measure.high)],
            "n": first.measure.n,
            "verdict": self.verdict,
            "enough": self.enough,
            "limits": [
                {
                    "bar": str(one.limit),
                    "value": one.measure.value,
                    "ci": [plain(one.measure.low), plain(one.measure.high)],
                    "n": one.measure.n,
                    "verdict": one.verdict,
                }
                for one in self.judged
            ],
        }


def judge(bar: Bar, measures: Mapping[str, Measure]) -> Verdict:
    """Missed is missed: nothing is rounded towards a bar, and no interval saves it."""
    nothing = Measure(None, float("nan"), float("nan"), 0)
    judged = []
    for limit in bar.bars:
        measure = measures.get(limit.measure, nothing)
        met = limit.met(measure)
        judged.append(Judged(limit, measure, NOT_MEASURED if met is None else MET if met else MISSED))
    return Verdict(bar.experiment, tuple(judged), judged[0].measure.n >= bar.n.at_least)


def not_run(bar: Bar, why: str) -> dict[str, Any]:
    """The line of an experiment that could not be run; it never passes."""
    return {"name": bar.experiment, "bar": str(bar.bars[0]), "value": None, "ci": [None, None], "n": 0, "verdict": why}


def plain(value: float) -> float | None:
    return None if value != value else value

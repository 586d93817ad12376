"""`bench predict`: every predictor on calls that nothing here was fitted on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuecard.predictors.counts import MemoryCounts
from cuecard.predictors.empirical import EmpiricalPredictor
from cuecard.predictors.graph import GraphPrior
from cuecard.predictors.learned import LearnedPredictor
from cuecard.predictors.mixture import MixturePredictor
from cuecard.predictors.types import Predictor
from evals.real.baselines import ExactCounts, PlainShrinkage
from evals.real.runs import Run, Turns, fit, run_all
from evals.real.scoring import OFFSETS, Tally, bootstrap, measures
from evals.real.sessions import Session

PREDICTORS = ("majority", "bigram", "account_key", "shrinkage", "counts", "graph", "learned", "mixture")
WHO = "crowd-sourced human-human dialogues"

Prior = Callable[[str], GraphPrior | None]


@dataclass(frozen=True, slots=True)
class Compared:
    runs: dict[str, Run]
    multi: frozenset[int]
    """Test sessions (by number) that went through several procedures."""
    n_train: int
    n_test: int


def compare(
    train: Sequence[Turns],
    test: Sequence[Turns],
    multi: Sequence[bool],
    prior: Prior,
    model: LearnedPredictor | None,
) -> Compared:
    """Fit the counts on `train` (in time order) and run all predictors over `test`."""
    predictors = all_predictors(train, prior, model)
    several = frozenset(number for number, flag in enumerate(multi) if flag)
    return Compared(run_all(predictors, test), several, len(train), len(test))


def all_predictors(train: Sequence[Turns], prior: Prior, model: LearnedPredictor | None) -> dict[str, Predictor]:
    fitted = fit(train)
    found: dict[str, Predictor] = {
        "majority": ExactCounts(fitted.plain, ("sop",), "majority"),
        "bigram": ExactCounts(fitted.plain, ("last", "sop"), "bigram"),
        "account_key": fitted.account,
        "shrinkage": PlainShrinkage(fitted.plain),
        "counts": EmpiricalPredictor(fitted.plain, lambda _: None),
        "graph": EmpiricalPredictor(MemoryCounts(), prior),
        "mixture": MixturePredictor(EmpiricalPredictor(fitted.decayed, prior), model),
    }
    return found if model is None else {**found, "learned": model}


def report(compared: Compared) -> dict[str, Any]:
    """The figures by offset, for all calls and for single- and multi-procedure calls apart."""
    singles = frozenset(range(compared.n_test)) - compared.multi
    return {
        **_figures(compared.runs, None),
        "us_per_prediction": {name: compared.runs[name].us_per_prediction for name in _present(compared)},
        **_sources(compared.runs),
        "mixture_minus_shrinkage": _gains(compared.runs, "shrinkage"),
        "mixture_minus_counts": _gains(compared.runs, "counts"),
        "single": _figures(compared.runs, singles) if singles else {},
        "multi": _figures(compared.runs, compared.multi) if compared.multi else {},
        "n_train": compared.n_train,
        "n_test": compared.n_test,
        "who": WHO,
    }


def several_procedures(sessions: Sequence[Session]) -> list[bool]:
    return [session.multi_procedure for session in sessions]


def _present(compared: Compared) -> list[str]:
    return [name for name in PREDICTORS if name in compared.runs]


def _figures(runs: Mapping[str, Run], only: frozenset[int] | None) -> dict[str, Any]:
    """`{"+1": {predictor: measures}}`; a predictor that did not run has nulls."""
    out: dict[str, Any] = {}
    for offset in OFFSETS:
        out[f"+{offset}"] = {
            name: {
                **measures(_kept(runs[name].tallies[offset], only) if name in runs else Tally()),
                "us_per_prediction": runs[name].us_per_prediction if name in runs else None,
            }
            for name in PREDICTORS
        }
    return out


def _sources(runs: Mapping[str, Run]) -> dict[str, Any]:
    """`source_hit1/2/3`: by predictor, how often the right source came first at +1, +2, +3."""
    return {
        f"source_hit{offset}": {
            name: measures(runs[name].tallies[offset])["source_hit1"] for name in PREDICTORS if name in runs
        }
        for offset in OFFSETS
    }


def _gains(runs: Mapping[str, Run], over: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for offset in OFFSETS:
        ours, theirs = (runs[name].tallies[offset].actions for name in ("mixture", over))
        out[f"+{offset}"] = {f"top{k}": bootstrap(ours, theirs, k)._asdict() for k in (1, 3)}
    return out


def _kept(tally: Tally, only: frozenset[int] | None) -> Tally:
    if only is None:
        return tally
    return Tally(
        [hit for hit in tally.actions if hit.session in only], [hit for hit in tally.sources if hit.session in only]
    )

"""Recorded calls as a predictor sees them, and the counts that a history of them leaves behind."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import orjson

from cuecard.belief.types import Belief
from cuecard.predictors.counts import HALF_LIFE_SESSIONS, MemoryCounts, increments
from cuecard.predictors.procedure_prior import ProcedurePrior
from cuecard.predictors.types import SessionView, TurnView
from evals.experiments.shared.record import FOLDER
from evals.experiments.types import CannotRun, Options, Unit
from sops.loader import load_procedure

OFFSETS = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class Call:
    """One recorded call; `turns` are the agent's, the greeting first."""

    sop: str
    seed: int
    turns: tuple[dict[str, Any], ...]
    views: tuple[TurnView, ...]
    split: str

    def view(self, index: int, *, mood: bool = True) -> SessionView:
        """The call after agent turn `index`, as its supervisor saw it. Without `mood` nobody is believed in."""
        turn = self.turns[index]
        known = mood and turn["cohort"]
        return SessionView(
            sop=self.sop,
            turns=self.views[: index + 1],
            belief=Belief(
                cohort={turn["cohort"]: 1.0},
                mood={f"{turn['cohort']}/{turn['mood']}": 1.0},
                p_change=turn["p_change"],
            )
            if known
            else Belief(p_change=turn["p_change"]),
            facts=frozenset(turn["facts"]),
            verified=turn["verified"],
            done=frozenset(turn["done"]),
        )


@lru_cache(maxsize=8)
def load_calls(sop: str) -> tuple[Call, ...]:
    """All recorded calls of a procedure, oldest first. CannotRun where none were recorded."""
    path = FOLDER / f"{load_procedure(sop).name}.jsonl"
    if not path.is_file():
        raise CannotRun(f"not run: no recorded calls of {sop}")
    return tuple(_call(orjson.loads(line)) for line in path.read_bytes().splitlines())


def history(sop: str) -> list[Call]:
    return [call for call in load_calls(sop) if call.split == "history"]


def later(sop: str) -> list[Call]:
    return [call for call in load_calls(sop) if call.split == "later"]


def _call(row: dict[str, Any]) -> Call:
    turns = row["reference_outputs"]["turns"]
    views = tuple(TurnView(t["words"], t["state"], t["action"], t["reply"], t["source"]) for t in turns)
    call = Call(row["inputs"]["sop"], row["inputs"]["seed"], tuple(turns), views, row["split"][0])
    # As a deployment keeps them: each turn with the step that the rules expected after it.
    due = [prior_of(call.sop).expect(call.view(index), len(OFFSETS)).due for index in range(len(turns))]
    return replace(call, views=tuple(view._replace(due=step) for view, step in zip(views, due, strict=True)))


def fitted(calls: Sequence[Call], half_life_sessions: float | None = HALF_LIFE_SESSIONS) -> MemoryCounts:
    """Counts of these calls, oldest first, as the store would hold them."""
    counts = MemoryCounts(half_life_sessions)
    for call in calls:
        for end in range(2, len(call.views) + 1):
            turn = call.turns[end - 1]
            for increment in increments(call.sop, call.views[:end], turn["cohort"], turn["mood"]):
                counts.add(increment)
        counts.end_session()
    return counts


@lru_cache(maxsize=8)
def prior_of(sop: str) -> ProcedurePrior:
    return ProcedurePrior(load_procedure(sop))


QUICK_CALLS = 8
"""Later calls of each procedure that a quick run scores."""


def units(options: Options) -> list[Unit]:
    """One a later call: what every experiment on prediction is scored on."""
    n = options.seeds if options.seeds is not None else QUICK_CALLS if options.quick else None
    return [
        {"key": f"{sop}/{call.seed:07d}", "sop": sop, "seed": call.seed}
        for sop in options.procedures
        for call in later(sop)[:n]
    ]


def call_of(unit: Unit) -> Call:
    return next(call for call in load_calls(unit["sop"]) if call.seed == unit["seed"])

"""Plays simulated calls with nothing fetched early, and keeps what a predictor would have seen after each turn."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from cuecard.belief.types import Belief
from cuecard.blackboard import Board
from cuecard.clock import LoopClock, run_virtual
from cuecard.planning import Nothing
from cuecard.predictors.counts import HORIZON, MemoryCounts, increments, sure_of
from cuecard.predictors.graph import GraphPrior
from cuecard.predictors.types import SessionView, TurnView
from cuecard.prefetch.scheduler import Decision
from cuecard.session import Engine
from evals.callers import AgendaCaller, draw_agenda, load_questions, load_wording
from evals.calls.play import Live, play
from sops.loader import find, load_procedure
from sops.tables import load_tables


@dataclass(slots=True)
class Call:
    """One simulated call: all its turns, and the views as the supervisor had them."""

    seed: int
    turns: tuple[TurnView, ...] = ()
    views: dict[int, SessionView] = field(default_factory=dict)
    """By number of finished turns."""

    def ahead(self, n_turns: int, offset: int) -> TurnView | None:
        """The turn that came `offset` agent turns after the view of `n_turns`."""
        at = n_turns - 1 + offset
        return self.turns[at] if at < len(self.turns) else None


class _Capturing(Nothing):
    """Fetches nothing and keeps every view."""

    def __init__(self) -> None:
        self.views: dict[int, SessionView] = {}

    def plan(self, board: Board) -> list[Decision]:
        self.views[len(board.turns)] = board.view()
        return []


def record_calls(sop: str, seeds: Sequence[int]) -> list[Call]:
    """One call a seed, on virtual time and one engine."""

    async def all_calls() -> list[Call]:
        async with Engine.open(persist=False) as engine:
            return [await _one(engine, sop, seed) for seed in seeds]

    return run_virtual(all_calls())


async def _one(engine: Engine, sop: str, seed: int) -> Call:
    procedure = load_procedure(sop)
    wording = load_wording(procedure.name)
    rng = random.Random(f"{procedure.name}/{seed}")
    agenda = draw_agenda(procedure, load_tables(find(sop)), wording, load_questions(procedure.name), rng)
    watching = _Capturing()
    session = await engine.session(sop, session_id=f"recorded-{seed}", planner=watching)
    await play(session, Live(AgendaCaller(agenda, wording, rng)), LoopClock())
    return Call(seed, tuple(session.board.turns), watching.views)


def counted(sop: str, calls: Sequence[Call], prior: GraphPrior) -> MemoryCounts:
    """What these calls teach, as the store of precedents would count it."""
    counts = MemoryCounts()
    for call in calls:
        dues = {n: prior.expect(view, HORIZON).due for n, view in call.views.items()}
        turns = tuple(turn._replace(due=dues.get(n, "")) for n, turn in enumerate(call.turns, start=1))
        for n in range(1, len(turns) + 1):
            caller = sure_of(call.views[n].belief if n in call.views else Belief())
            for increment in increments(sop, turns[:n], caller.cohort, caller.mood):
                counts.add(increment)
        counts.end_session()
    return counts

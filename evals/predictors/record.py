"""Plays simulated calls with nothing fetched early, and keeps what a predictor would have seen after each turn."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from cuecard.blackboard import Board
from cuecard.clock import LoopClock, run_virtual
from cuecard.planning import Nothing
from cuecard.predictors.counts import MemoryCounts, increments
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
    cohort: str = ""
    mood: str = ""

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
    belief = session.board.belief
    return Call(seed, tuple(session.board.turns), watching.views, belief.likely_cohort, belief.likely_mood)


def counted(sop: str, calls: Sequence[Call]) -> MemoryCounts:
    """What these calls teach, as the store of precedents would count it."""
    counts = MemoryCounts()
    for call in calls:
        for n in range(1, len(call.turns) + 1):
            for increment in increments(sop, call.turns[:n], call.cohort, call.mood):
                counts.add(increment)
        counts.end_session()
    return counts

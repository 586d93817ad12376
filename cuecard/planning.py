"""Who decides what to fetch early: the seam, and the default that weighs seconds hidden against price."""

from typing import Protocol

from cuecard.blackboard import Board
from cuecard.policy import choose
from cuecard.predictors.types import Vector
from cuecard.prefetch.flight import SessionId
from cuecard.prefetch.jobs import Wish, is_query, job_for
from cuecard.prefetch.safety import forbidden_early
from cuecard.prefetch.scheduler import Decision, Scheduler
from cuecard.prefetch.types import FetchJob
from sops.models import Procedure

LIKELY_STATE = 0.15
"""States below this probability do not send fetches out on half-heard words."""


class Planner(Protocol):
    """Looks at the board and says what to fetch; changes nothing."""

    def plan(self, board: Board) -> list[Decision]:
        """After a pass: what to fetch, refresh, hold and drop, most valuable first."""
        ...

    def on_partial(self, board: Board, words: str, vector: Vector | None, facts: dict[str, str]) -> list[FetchJob]:
        """While the caller speaks: fetches that the words so far make possible."""
        ...


class ByValue:
    """The default: the scheduler over this session's forecast, facts, pool and fetches under way."""

    def __init__(self, procedure: Procedure, price_s: float = 0.0) -> None:
        self.scheduler = Scheduler(procedure, price_s)

    def plan(self, board: Board) -> list[Decision]:
        flying = board.kit.broker.in_flight(SessionId(board.tenant, board.session_id))
        return self.scheduler.plan(
            board.forecast, board.known(), board.pool, flying, board.now_s, done=board.view().done
        )

    def on_partial(self, board: Board, words: str, vector: Vector | None, facts: dict[str, str]) -> list[FetchJob]:
        return partial_jobs(board, words, vector, facts)


class Nothing:
    """Fetches nothing early: the call as it would be without a supervisor."""

    def plan(self, board: Board) -> list[Decision]:
        return []

    def on_partial(self, board: Board, words: str, vector: Vector | None, facts: dict[str, str]) -> list[FetchJob]:
        return []


def _p_soon(board: Board, dep: str) -> float:
    """P(a step that needs it comes up): sure for steps of the path still ahead, as forecast for the others."""
    procedure, done = board.kit.procedure, board.view().done
    needing = [name for name, action in procedure.actions.items() if dep in action.needs]
    if dep == procedure.verify_with or any(name in procedure.path and name not in done for name in needing):
        return 1.0
    return max((board.forecast.p_action_within(name) for name in needing), default=0.0)


def partial_jobs(board: Board, words: str, vector: Vector | None, facts: dict[str, str]) -> list[FetchJob]:
    """What the step that answers these words would need, for each state they are likely to be, and what new slots fire.

    A fetch on a half-heard argument is harmless: the argument is part of its key, so other final words do not find it.
    """
    procedure = board.kit.procedure
    known = board.known(facts)
    wanted: dict[str, tuple[str, float]] = {}
    if vector is not None:
        judged = board.kit.classifier.judge(vector, last_action=board.desk.last_action, prior=board.belief, text=words)
        for state, p in judged.state.items():
            if p >= LIKELY_STATE:
                action = choose(procedure, board.desk, state).action
                for dep in procedure.actions[action].needs:
                    wanted.setdefault(dep, (action, p))
    for dep, spec in procedure.dependencies.items():
        if set(spec.requires) & facts.keys() and not is_query(spec) and (p := _p_soon(board, dep)) >= LIKELY_STATE:
            wanted.setdefault(dep, ("", p))
    jobs = []
    for dep, (action, p) in wanted.items():
        spec = procedure.dependencies[dep]
        if forbidden_early(spec, known.verified):
            continue
        job = job_for(procedure, dep, known, Wish("partial", action, p=p), user_text=words, vector=vector)
        if job is not None and board.pool.get(dep, job.key.args, board.now_s) is None:
            jobs.append(job)
    return jobs

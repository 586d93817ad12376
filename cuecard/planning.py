"""Who decides what to fetch early: the seam, and the default that weighs seconds hidden against price."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from cuecard.blackboard import Board
from cuecard.broad import broad_searches
from cuecard.contents import BROAD_K
from cuecard.needs import LIKELY_STATE
from cuecard.policy import choose
from cuecard.predictors.types import Vector
from cuecard.prefetch.flight import SessionId
from cuecard.prefetch.jobs import Wish, is_query, job_for
from cuecard.prefetch.safety import forbidden_early
from cuecard.prefetch.scheduler import HEARD_S, WORTH_S, Decision, Scheduler
from cuecard.prefetch.types import FetchJob
from cuecard.prefetch.value import hidden_by_partial_s
from sops.models import Procedure

LIKELY_QUESTION = 0.1
"""`LIKELY_STATE` for a search, which is cheap and has the least time."""


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
        decisions = self.scheduler.plan(
            board.forecast, board.known(), board.pool, flying, board.now_s, done=board.view().done
        )
        return [one for one in decisions if _still_worth(board, one)] + broad_searches(board, self.scheduler.price_s)

    def on_partial(self, board: Board, words: str, vector: Vector | None, facts: dict[str, str]) -> list[FetchJob]:
        jobs = partial_jobs(board, words, vector, facts, lambda dep: p_soon(board, dep))
        return worth_sending(jobs, self.scheduler.price_s)


def _still_worth(board: Board, decision: Decision) -> bool:
    """Not so where an argument is missing that every step asks for first; and what runs is not dropped."""
    job, procedure = decision.job, board.kit.procedure
    if decision.what == "drop":
        # What is running has cost its price already; only what is queued can be spared.
        work = board.kit.broker.in_flight(SessionId(board.tenant, board.session_id)).get(decision.key)
        return work is not None and work.state == "queued"
    if job is None or not job.call.spec.partial:
        return True
    missing = {name for name in job.call.spec.partial if name not in job.call.args}
    needing = [action for action in procedure.actions.values() if job.key.dep in action.needs]
    return not missing or not all(missing & set(action.requires) for action in needing)


class Nothing:
    """Fetches nothing early: the call as it would be without a supervisor."""

    def plan(self, board: Board) -> list[Decision]:
        return []

    def on_partial(self, board: Board, words: str, vector: Vector | None, facts: dict[str, str]) -> list[FetchJob]:
        return []


def p_soon(board: Board, dep: str) -> float:
    """P(a step that needs it comes up): sure for steps of the path still ahead, as forecast for the others."""
    procedure, done = board.kit.procedure, board.view().done
    needing = [name for name, action in procedure.actions.items() if dep in action.needs]
    if dep == procedure.verify_with or any(name in procedure.path and name not in done for name in needing):
        return 1.0
    return max((board.forecast.p_action_within(name) for name in needing), default=0.0)


def worth_sending(jobs: Sequence[FetchJob], price_s: float) -> list[FetchJob]:
    """Those that may hide enough of this very turn's waiting for their price: half-heard words cost what others do."""
    return [job for job in jobs if job.value_s - price_s > WORTH_S]


def partial_jobs(
    board: Board,
    words: str,
    vector: Vector | None,
    facts: dict[str, str],
    p_of: Callable[[str], float],
    *,
    contents: bool = True,
) -> list[FetchJob]:
    """What the step that answers these words would need, for each state they are likely to be, and what new slots fire.

    `p_of` a dependency is P(a step that needs it comes up): what a new slot makes possible is sent out only if likely.
    Without `contents` nothing is known of a small corpus but what its searches bring.
    A fetch on a half-heard argument is harmless: the argument is part of its key, so other final words do not find it.
    Each job's `value_s` is what is hidden of a wait that would begin when the words end, the declared price paid.
    """
    procedure = board.kit.procedure
    known = board.known(facts)
    wanted: dict[str, tuple[str, float]] = {}
    if vector is not None:
        judged = board.kit.classifier.judge(vector, last_action=board.desk.last_action, prior=board.belief, text=words)
        for state, p in judged.state.items():
            action = choose(procedure, board.desk, state).action if p >= LIKELY_QUESTION else ""
            for dep in procedure.actions[action].needs if action else ():
                if p >= LIKELY_STATE or board.kit.corpus_behind(dep):
                    wanted.setdefault(dep, (action, p))
    for dep, spec in procedure.dependencies.items():
        if set(spec.requires) & facts.keys() and not is_query(spec) and (p := p_of(dep)) >= LIKELY_STATE:
            wanted.setdefault(dep, ("", p))
    jobs = []
    for dep, (action, p) in wanted.items():
        spec = procedure.dependencies[dep]
        if forbidden_early(spec, known.verified):
            continue
        saves_s = p * float(hidden_by_partial_s(np.array([spec.latency_s]), HEARD_S)[0])
        wish = Wish("partial", action, p=p, value_s=saves_s - spec.price, reason=f"half-heard: p {p:.2f}")
        job = job_for(procedure, dep, known, wish, user_text=words, vector=vector)
        if job is None or board.pool.get(dep, job.key.args, board.now_s) is not None:
            continue
        if contents and board.kit.corpus_behind(dep) in board.kit.contents:
            # Broad now, narrowed by the last words.
            job = replace(job, call=replace(job.call, k=BROAD_K))
        jobs.append(job)
    return jobs

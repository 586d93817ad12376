"""Plans by the forecast, and beyond it by the habits of past calls: what the rest of a call usually needs."""

import math
from collections.abc import Mapping
from dataclasses import replace

from cuecard.blackboard import Board
from cuecard.broad import covered, on_its_way
from cuecard.past_calls import identifies
from cuecard.planning import ByValue
from cuecard.predictors.counts import sure_of
from cuecard.predictors.types import Vector
from cuecard.prefetch.choice import Choice
from cuecard.prefetch.flight import SessionId
from cuecard.prefetch.habits import Habits, PastTurn, Place
from cuecard.prefetch.jobs import Wish, job_for
from cuecard.prefetch.safety import forbidden_early
from cuecard.prefetch.scheduler import WORTH_S, Decision, Scheduler
from cuecard.prefetch.types import FetchJob, FetchKey
from cuecard.taught import Taught


class ByHabits:
    """`ByValue`, and what habits find worth fetching that it does not. Of one tenant: nobody learns from another's."""

    def __init__(self, by_value: ByValue, taught: Taught) -> None:
        self._by_value = by_value
        self._taught = taught

    @property
    def scheduler(self) -> Scheduler:
        """The one below, which learns how long sources take."""
        return self._by_value.scheduler

    def plan(self, board: Board) -> list[Decision]:
        decisions = self._by_value.plan(board)
        self._taught.notice(board.session_id)
        wanted = {decision.key for decision in decisions if decision.what in ("fetch", "refresh")}
        more = [decision for decision in self._orders(board) if decision.key not in wanted]
        # What the forecast would hold or drop, habits may want: of each fetch one thing is said.
        spoken_for = {decision.key for decision in more}
        return [decision for decision in decisions if decision.key not in spoken_for] + more

    def on_partial(self, board: Board, words: str, vector: Vector | None, facts: dict[str, str]) -> list[FetchJob]:
        return self._by_value.on_partial(board, words, vector, facts)

    def _orders(self, board: Board) -> list[Decision]:
        ahead = self._taught.ahead
        if ahead is None or not board.turns or ahead.habits.actions.row(board.turns[-1].action) is None:
            return []
        flying = board.kit.broker.in_flight(SessionId(board.tenant, board.session_id))
        names = {*ahead.habits.records.all, *self._taught.asked_of}
        found = {name: self._job(board, name) for name in names}
        jobs = {name: job for name, job in found.items() if job is not None}

        def fresh_for_s(name: str) -> float:
            return self._fresh_for_s(board, name, jobs[name], flying) if name in jobs else math.inf

        chosen = ahead.orders(self._place(board, ahead.habits), fresh_for_s)
        return [
            _decision(board, choice, jobs[choice.name], flying)
            for choice in chosen
            if choice.value_s > jobs[choice.name].call.spec.price + WORTH_S
        ]

    def _place(self, board: Board, habits: Habits) -> Place:
        """Where this call stands, who calls judged by all that is known now."""
        cohort, place = sure_of(board.belief).cohort, Place()
        for turn in board.turns:
            question = self._taught.question_of(turn)
            place = habits.moved(place, PastTurn(cohort, turn.action, question=question))
        return place._replace(verified=board.known().verified or not identifies(board.kit.procedure))

    def _job(self, board: Board, name: str) -> FetchJob | None:
        """How it would be fetched for this caller; None where it may not or cannot be."""
        procedure, known = board.kit.procedure, board.known()
        dep = self._taught.asked_of.get(name, name)
        spec = procedure.dependencies[dep]
        words = self._taught.sentences.get(name, "")
        if forbidden_early(spec, known.verified):
            return None
        job = job_for(procedure, dep, known, Wish("forecast"), user_text=words)
        # Without all its arguments it would be fetched once more with them: too much for a habit.
        return None if job is None or any(one not in job.call.args for one in spec.partial) else job

    def _fresh_for_s(self, board: Board, name: str, job: FetchJob, flying: Mapping[FetchKey, object]) -> float:
        if job.key in flying:
            # Said again while it is under way, or it would count as wanted by nobody.
            return 0.0
        item = board.pool.get(job.key.dep, job.key.args, board.now_s)
        if item is not None:
            return item.expires_at_s - board.now_s
        if name in self._taught.asked_of:
            return self._answer_fresh_for_s(board, job.key.dep, self._taught.vector_of(name))
        return 0.0

    def _answer_fresh_for_s(self, board: Board, dep: str, vector: Vector) -> float:
        """The same for what another question brought: one in nearly these words, or one about the same document."""
        if covered(board, dep, vector) or on_its_way(board, dep, vector) is not None:
            return math.inf
        near = (board.pool.get(dep, one.args, board.now_s) for one in board.asked.near(dep, vector))
        return max((item.expires_at_s - board.now_s for item in near if item is not None), default=0.0)


def _decision(board: Board, choice: Choice, job: FetchJob, flying: Mapping[FetchKey, object]) -> Decision:
    reason = f"p {choice.p_use:.2f} in the rest of the call, saves {choice.value_s:.2f} s"
    again = board.pool.get(job.key.dep, job.key.args, board.now_s) is not None
    reason = f"habit: {'under way, ' if job.key in flying else ''}{reason}"
    ready = replace(
        job, p=choice.p_use, value_s=choice.value_s, reason=reason, origin="refresh" if again else job.origin
    )
    return Decision("refresh" if again else "fetch", job.key, ready, choice.value_s, reason)

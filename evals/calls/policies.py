"""Rules for fetching early, to stand beside ours: naive ones, a predictor of nonsense, and an oracle.

All of them use the session's own broker, so they share its pipes, its budget and what may be fetched before identity
is verified.
"""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

import orjson

from cuecard.blackboard import Board
from cuecard.planning import Planner, p_soon, partial_jobs, worth_sending
from cuecard.predictors.types import Forecast, Utterance, Vector
from cuecard.prefetch.jobs import Known, Wish, is_query, job_for
from cuecard.prefetch.safety import forbidden_early
from cuecard.prefetch.scheduler import Decision, Scheduler
from cuecard.prefetch.slots import slots
from cuecard.prefetch.types import FetchCall, FetchJob, FetchKey, owner_of
from sops.models import Procedure


class FutureNeed(NamedTuple):
    """A non-write need of a call that has been played: turn, dependency, and the arguments it was met with."""

    turn: int
    dep: str
    args: str
    """Canonical, as in `NeedResolved.key`."""


class Hearsay:
    """No partial words: the plan is made between turns only."""

    def on_partial(self, board: Board, words: str, vector: Vector | None, facts: dict[str, str]) -> list[FetchJob]:
        return []


class AllAtIdentity(Hearsay):
    """Every declared read without a free question, once, as soon as identity is verified and its facts are known."""

    def __init__(self) -> None:
        self._asked: set[FetchKey] = set()

    def plan(self, board: Board) -> list[Decision]:
        if not board.desk.verified:
            return []
        jobs = [job for job in _everything(board) if job.key not in self._asked]
        self._asked.update(job.key for job in jobs)
        return [_fetch(job, "everything at identity") for job in jobs]


class RefreshAll(Hearsay):
    """The same after every turn, fetched anew whether it lies in the pool or not."""

    def plan(self, board: Board) -> list[Decision]:
        return [_fetch(job, "everything, every turn") for job in _everything(board)] if board.desk.verified else []


class AllAndPartial(AllAtIdentity):
    """All at identity, and the unfinished words as a query."""

    def on_partial(self, board: Board, words: str, vector: Vector | None, facts: dict[str, str]) -> list[FetchJob]:
        return partial_jobs(board, words, vector, facts, lambda dep: p_soon(board, dep), contents=False)


class Garbage:
    """Our scheduler and our ear for unfinished words, fed nonsense: what it hides is not prediction.

    The forecast, the steps still ahead and the questions it searches for are all made up; only what is heard is real.
    """

    RECIPES = (
        "How long should I boil the pasta?",
        "Can I freeze the tomato sauce?",
        "What do I do when the cake does not rise?",
        "Which flour is best for pizza?",
        "How much salt goes into the water?",
    )

    def __init__(self, procedure: Procedure, rng: random.Random, price_s: float = 0.0) -> None:
        self._actions = tuple(procedure.actions)
        path = tuple(rng.sample(self._actions, min(len(self._actions), len(procedure.path))))
        self._scheduler = Scheduler(procedure.model_copy(update={"path": path}), price_s)
        self._rng = rng

    def plan(self, board: Board) -> list[Decision]:
        return self._scheduler.plan(self._forecast(), board.known(), board.pool, {}, board.now_s)

    def on_partial(self, board: Board, words: str, vector: Vector | None, facts: dict[str, str]) -> list[FetchJob]:
        jobs = partial_jobs(board, words, vector, facts, lambda dep: self._rng.random() ** 3, contents=False)
        return worth_sending(jobs, self._scheduler.price_s)

    def _forecast(self) -> Forecast:
        rows = []
        for _ in range(3):
            weights = [self._rng.expovariate(1.0) ** 3 for _ in self._actions]
            rows.append({name: w / sum(weights) for name, w in zip(self._actions, weights, strict=True)})
        asked = tuple(Utterance(text, 0.2, 1, "garbage") for text in self.RECIPES)
        return Forecast(actions=tuple(rows), utterances=asked, by="garbage")


class Oracle:
    """Knows every need and question to come, but no fact before it is spoken, and has the same pipes."""

    def __init__(self, procedure: Procedure, future: Sequence[FutureNeed]) -> None:
        self._procedure = procedure
        self._future = tuple(sorted(future))

    def plan(self, board: Board) -> list[Decision]:
        return [_fetch(job, "will be needed") for job in self._wanted(board, board.known())]

    def on_partial(self, board: Board, words: str, vector: Vector | None, facts: dict[str, str]) -> list[FetchJob]:
        return self._wanted(board, board.known(facts))

    def _wanted(self, board: Board, known: Known) -> list[FetchJob]:
        found: dict[FetchKey, FetchJob] = {}
        for need in self._future:
            if need.turn <= board.turn:
                continue
            job = self._job(need, known)
            if job is None or job.key in found:
                continue
            item = board.pool.get(need.dep, need.args, board.now_s)
            if item is None or item.expires_at_s - board.now_s < job.call.spec.latency_s:
                found[job.key] = job
        return list(found.values())

    def _job(self, need: FutureNeed, known: Known) -> FetchJob | None:
        """The very fetch that will be needed; None while one of its facts is unspoken, or may not be used yet."""
        spec = self._procedure.dependencies[need.dep]
        args = orjson.loads(need.args)
        query = args.pop("?", "")
        spoken = all(known.facts.get(name) == value for name, value in args.items())
        if not spoken or forbidden_early(spec, known.verified):
            return None
        used = set(args) | {name for name in slots(spec.query_template or "") if name in known.facts}
        epoch = sum(known.epochs.get(name, 0) for name in used)
        return FetchJob(
            FetchKey(owner_of(spec.scope, known.tenant, known.session), need.dep, need.args, epoch),
            FetchCall(need.dep, spec, args, query),
            tenant=known.tenant,
            session=known.session,
            verified=known.verified,
            facts=frozenset(used),
            origin="forecast",
            asked_turn=known.turn,
            p=1.0,
            value_s=1000.0 - need.turn,
            reason=f"needed in turn {need.turn}",
        )


def _everything(board: Board) -> list[FetchJob]:
    """A job for each declared read that needs no caller's question, as far as its facts are known."""
    procedure, known = board.kit.procedure, board.known()
    jobs = []
    for dep, spec in procedure.dependencies.items():
        if is_query(spec) or forbidden_early(spec, known.verified):
            continue
        job = job_for(procedure, dep, known, Wish("forecast"))
        if job is not None:
            jobs.append(job)
    return jobs


def _fetch(job: FetchJob, reason: str) -> Decision:
    return Decision("fetch", job.key, job, job.value_s, reason)


Future = Sequence[FutureNeed]
Make = Callable[[Procedure, Future, random.Random], Planner]

POLICIES: dict[str, Make] = {
    "all_at_identity": lambda procedure, future, rng: AllAtIdentity(),
    "refresh_all": lambda procedure, future, rng: RefreshAll(),
    "partial_all": lambda procedure, future, rng: AllAndPartial(),
    "garbage": lambda procedure, future, rng: Garbage(procedure, rng),
    "oracle": lambda procedure, future, rng: Oracle(procedure, future),
}
"""Beside "none" and "ours", which are the engine's own."""

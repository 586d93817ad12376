"""Broad searches of small corpora: what lies ready of one, and which search more is worth its price."""

import math
from collections.abc import Iterator
from dataclasses import replace

from cuecard.blackboard import Board
from cuecard.contents import BROAD_K, Broad, Contents
from cuecard.predictors.types import Forecast, Vector
from cuecard.prefetch.flight import SessionId
from cuecard.prefetch.jobs import Wish, is_query, job_for
from cuecard.prefetch.safety import forbidden_early
from cuecard.prefetch.scheduler import WORTH_S, Decision
from cuecard.prefetch.types import FetchCall, FetchJob, Item, canonical
from sops.models import Procedure

LEFT_OVER = 0.3
"""Part of a search's time that a caller waits in spite of unfinished words (docs/decisions/0203)."""


def passages(board: Board, dep: str) -> list[Item]:
    """Fresh passages in the pool out of the corpus that `dep` searches, whichever dependency brought them."""
    name = board.kit.corpus_behind(dep)
    if not name:
        return []
    return [item for item in board.pool.items if item.fresh(board.now_s) and board.kit.corpus_behind(item.dep) == name]


def covered(board: Board, dep: str, query: Vector) -> bool:
    """Whether the document that these words are about lies in the pool, as far as the corpus's contents tell."""
    contents = board.kit.contents.get(board.kit.corpus_behind(dep))
    return contents is not None and contents.nearest(query) in {item.id for item in passages(board, dep)}


def on_its_way(board: Board, dep: str, query: Vector) -> FetchJob | None:
    """The broad search under way that should bring the document these words are about."""
    contents = board.kit.contents.get(board.kit.corpus_behind(dep))
    if contents is None:
        return None
    wanted = contents.nearest(query)
    return next((job for job, brings in _flying(board, dep, contents) if wanted in brings), None)


def broad_searches(board: Board, price_s: float) -> list[Decision]:
    """The searches of each small corpus that are worth it by what callers may still ask."""
    found = []
    procedure, done = board.kit.procedure, board.view().done
    for name, contents in board.kit.contents.items():
        dep = _asker(procedure, name, board)
        if not dep:
            continue
        spec = procedure.dependencies[dep]
        there = {item.id for item in passages(board, dep)}
        there = there.union(*(brings for _, brings in _flying(board, dep, contents)))
        wanted = expected_uses(procedure, board.forecast, done, _users(board, name))
        # The first question brings most of the corpus itself, so that only its own waiting is saved.
        p = -math.expm1(-wanted)
        reason = f"broad search: {wanted:.1f} questions expected"
        for search in _unsent(board, dep, contents):
            value_s = p * contents.adds(search, there) * LEFT_OVER * spec.latency_s - spec.price - price_s
            job = _job(board, dep, search, Wish("forecast", p=p, value_s=value_s, reason=reason))
            # What the pool can't hold beside what lies there would only push that out.
            fits = len(there | search.covers) <= board.pool.cap
            if value_s > WORTH_S and fits and job is not None:
                there |= search.covers
                found.append(Decision("fetch", job.key, job, value_s, reason))
    return found


def expected_uses(procedure: Procedure, forecast: Forecast, done: frozenset[str], deps: frozenset[str]) -> float:
    """How often one of these dependencies will be needed in the rest of the call, at the rate of the forecast."""
    steps = [name for name, action in procedure.actions.items() if deps & set(action.needs)]
    rates = [sum(p.get(name, 0.0) for name in steps) for p in forecast.actions]
    if not rates:
        return 0.0
    left = sum(name not in done for name in procedure.path)
    return sum(rates) / len(rates) * max(len(rates), left)


def _asker(procedure: Procedure, corpus: str, board: Board) -> str:
    """The dependency to search under: one whose query is the caller's words and nothing else, if there is one."""
    specs = {dep: procedure.dependencies[dep] for dep in sorted(_users(board, corpus))}
    free = [dep for dep, spec in specs.items() if is_query(spec) and not spec.requires]
    allowed = [dep for dep in free if not forbidden_early(specs[dep], board.desk.verified)]
    return min(allowed, key=lambda dep: len(specs[dep].query_template or ""), default="")


def _users(board: Board, corpus: str) -> frozenset[str]:
    return frozenset(dep for dep in board.kit.rag_deps if board.kit.corpus_behind(dep) == corpus)


def _unsent(board: Board, dep: str, contents: Contents) -> Iterator[Broad]:
    return (one for one in contents.searches if board.asked.vector_of(dep, _args(one)) is None)


def _flying(board: Board, dep: str, contents: Contents) -> Iterator[tuple[FetchJob, frozenset[str]]]:
    """The broad searches of this corpus that are under way, with what each should bring."""
    who, name = SessionId(board.tenant, board.session_id), board.kit.corpus_behind(dep)
    for work in board.kit.broker.in_flight(who).values():
        call = work.wanted[who].call
        if call.k is not None and call.vector is not None and board.kit.corpus_behind(call.dep) == name:
            yield work.wanted[who], contents.reach(call.vector)


def _args(search: Broad) -> str:
    return canonical({"k": str(BROAD_K)}, search.query)


def _job(board: Board, dep: str, search: Broad, wish: Wish) -> FetchJob | None:
    job = job_for(board.kit.procedure, dep, board.known(), wish, user_text=search.query)
    if job is None:
        return None
    call = FetchCall(dep, job.call.spec, {**job.call.args, "k": str(BROAD_K)}, search.query, search.vector, k=BROAD_K)
    return replace(job, key=job.key._replace(args=_args(search)), call=call)

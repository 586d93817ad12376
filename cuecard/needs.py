"""What an action needs and how a turn gets it: from the pool, a fetch under way, or live while the caller waits."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from cuecard.blackboard import Board
from cuecard.broad import covered, on_its_way, passages
from cuecard.errors import FetchError
from cuecard.events import Degraded, NeedResolved
from cuecard.policy import choose
from cuecard.predictors.types import Vector
from cuecard.prefetch.asked import Near, nearest_item
from cuecard.prefetch.flight import SessionId
from cuecard.prefetch.jobs import Wish, job_for
from cuecard.prefetch.safety import forbidden_early, missing_facts
from cuecard.prefetch.types import Fetched, FetchJob, Item, Missing, canonical, owner_of
from cuecard.reasons import ago, what_for, why_not_early
from sops.models import Dependency

FIT_COSINE = 0.45
"""From here on a passage answers the live words well enough to be spoken as an offer (docs/decisions/0006)."""

LIKELY_STATE = 0.15
"""States below this probability are not prepared for on half-heard words."""
_WORDS_ALONE = "{user_text}"

NO_RECORD = "there is no such record"


class Met(NamedTuple):
    """How a need was met: `item` is None when it could not be."""

    item: Item | None
    how: str
    stall_s: float
    reason: str


def wanted_job(board: Board, dep: str, wish: Wish, words: str, vector: Vector | None) -> FetchJob | None:
    """The fetch of `dep` for this session as things stand; None while something it cannot do without is missing."""
    return job_for(board.kit.procedure, dep, board.known(), wish, user_text=words, vector=vector)


def reads_to_begin(board: Board, action: str) -> list[FetchJob]:
    """The reads that this turn's step needs and that neither lie ready nor are known to be impossible.

    For the time in which a model still chooses the step: the fetch runs beside it and not after it. No write is among
    them, and nothing about a person before identity is verified.
    """
    jobs = []
    for dep in board.kit.procedure.actions[action].needs:
        spec = board.kit.procedure.dependencies[dep]
        if forbidden_early(spec, board.desk.verified) is not None:
            continue
        job = wanted_job(board, dep, Wish("live", action), board.live.utterance, board.live.vector)
        if job is not None and ready_item(board, job) is None:
            jobs.append(job)
    return jobs


async def ask_ahead(board: Board, job: FetchJob, heard: Vector | None = None) -> None:
    """Send a fetch out in the background; a free question is remembered by its meaning, and embedded once for both.

    `heard` is the meaning of the unfinished words behind it: words like these are sent out once.
    """
    if job.key.dep in board.kit.rag_deps and job.call.query:
        vector = await _query_vector(board, job)
        broad, breath = "k" in job.call.args, job.asked_turn + 1
        if not broad and _answered_soon(board, job.key.dep, vector):
            return
        if not broad and heard is not None and board.asked.voiced(job.key.dep, heard, breath):
            return
        board.asked.note(
            job.key.dep, job.key.args, vector, breath=breath if job.origin == "partial" and not broad else -1
        )
        job = replace(job, call=replace(job.call, vector=vector))
    if not _found_nothing(board, job):
        board.sent[job.key] = board.kit.broker.request(job), board.now_s


def _found_nothing(board: Board, job: FetchJob) -> bool:
    """It was fetched ahead and there is no such record: that answer is as good as another until it expires."""
    flight, at_s = board.sent.get(job.key, (None, 0.0))
    if flight is None or board.now_s - at_s >= job.call.spec.ttl_s:
        return False
    return isinstance(flight.outcome, Fetched) and not flight.outcome.items


def _answered_soon(board: Board, dep: str, vector: Vector) -> bool:
    """Nearly the same question, or its document, is there already or on its way: asking would bring the same."""
    near = board.asked.near(dep, vector)
    if any(board.pool.get(dep, one.args, board.now_s) for one in near) or _under_way(board, dep, near) is not None:
        return True
    return covered(board, dep, vector) or on_its_way(board, dep, vector) is not None


async def _query_vector(board: Board, job: FetchJob) -> Vector:
    if job.call.vector is not None:
        return job.call.vector
    known = board.asked.vector_of(job.key.dep, job.key.args)
    if known is not None:
        return known
    return await board.query_vectors.of(job.call.query)


def searched_by_words_alone(spec: Dependency) -> bool:
    """Whether the caller's words are the whole query; otherwise the procedure adds words of its own."""
    return spec.query_template in (None, _WORDS_ALONE)


def foresee_queries(board: Board, words: str, vector: Vector) -> None:
    """Have the queries embedded that these unfinished words may lead to and that say more than the words themselves.

    So the end of an unchanged turn embeds nothing, whether or not a search was sent out for them.
    """
    wordy = [dep for dep in board.kit.rag_deps if not searched_by_words_alone(board.kit.procedure.dependencies[dep])]
    if not wordy:
        return
    desk, procedure = board.desk, board.kit.procedure
    judged = board.kit.classifier.judge(vector, last_action=desk.last_action or None, prior=board.belief, text=words)
    for state, p in judged.state.items():
        needs = procedure.actions[choose(procedure, desk, state).action].needs if p >= LIKELY_STATE else []
        for dep in set(needs).intersection(wordy):
            job = wanted_job(board, dep, Wish("partial", p=p), words, vector)
            if job is not None and job.call.query:
                board.query_vectors.begin(job.call.query)


def ready_item(board: Board, job: FetchJob, near: Sequence[Near] = ()) -> tuple[Item, str] | None:
    """The pool's item for this job and why it counts; None when the pool has none that may be used.

    `near` are earlier questions that come close to this one: the best of their passages by the live words will do.
    """
    now_s = board.now_s
    exact = board.pool.get(job.key.dep, job.key.args, now_s)
    vector, there = job.call.vector, passages(board, job.key.dep)
    if exact is not None:
        # Of passages the best may have been brought again by another question, whose arguments it then bears.
        item = (nearest_item(there, vector) if vector is not None else None) or exact
        return item, f"fetched {ago(board, exact)} for {what_for(exact)}"
    if job.key.dep not in board.kit.rag_deps:
        return None
    if vector is not None and (best := nearest_item(there, vector)) is not None:
        if any(board.pool.get(job.key.dep, one.args, now_s) for one in near):
            return best, f"nearly the same question was asked {ago(board, best)}"
        if covered(board, job.key.dep, vector):
            return best, f"a broad search brought its document {ago(board, best)}"
    for pick in board.live.picks:
        if pick.item.dep == job.key.dep and pick.item.fresh(now_s) and pick.cosine >= FIT_COSINE:
            return pick.item, f"another question's passage fits these words (cosine {pick.cosine:.2f})"
    return None


async def meet(
    board: Board, dep: str, *, action: str, words: str, vector: Vector | None, hold: Callable[[str], None]
) -> Met:
    """Get what the action needs. `hold` is called with the holding phrase only if the caller has to wait.

    Emits `NeedResolved` either way. Never raises for a failing source: the reply does without. The turn's stall is
    booked by the caller, who knows which waits ran side by side.
    """
    spec = board.kit.procedure.dependencies[dep]
    job = wanted_job(board, dep, Wish("live", action), words, vector)
    if job is None:
        lacking = ", ".join(missing_facts(spec, board.desk.facts))
        return _book(board, dep, "", Met(None, "missing", 0.0, f"{lacking} is not known"), None)
    near: list[Near] = []
    if dep in board.kit.rag_deps and len(board.asked):
        # The query is embedded here already, so that a live search need not do it again.
        vector = await _query_vector(board, job)
        job = replace(job, call=replace(job.call, vector=vector))
        near = board.asked.near(dep, vector, breath=board.turn)
    ready = ready_item(board, job, near)
    if ready is not None:
        item, why = ready
        board.pool.touch(item.id)
        return _book(board, dep, job.key.args, Met(item, "ready", 0.0, why), item)
    if _found_nothing(board, job):
        return _book(board, dep, job.key.args, Met(None, "ready", 0.0, NO_RECORD), None)
    began_s = board.now_s
    broad = on_its_way(board, dep, job.call.vector) if job.call.vector is not None else None
    flight = board.kit.broker.live(_under_way(board, dep, near) or broad or job)
    how = "joined" if flight.joined else "live"
    if flight.outcome is None:
        hold(spec.holding)
    outcome = await flight.wait()
    stall_s = board.now_s - began_s
    if isinstance(outcome, Missing):
        board.log.emit(Degraded(part=dep, reason=f"{outcome.reason}: {outcome.detail}"))
        return _book(board, dep, job.key.args, Met(None, "missing", stall_s, outcome.reason), None)
    if not outcome.items:
        return _book(board, dep, job.key.args, Met(None, "missing", stall_s, NO_RECORD), None)
    why = "a fetch for it was under way" if flight.joined else why_not_early(board, dep)
    item = outcome.items[0]
    if (near or broad) and job.call.vector is not None:
        item = nearest_item(outcome.items, job.call.vector) or item
    board.pool.touch(item.id)
    return _book(board, dep, job.key.args, Met(item, how, stall_s, why), item)


def _under_way(board: Board, dep: str, near: Sequence[Near]) -> FetchJob | None:
    """The nearest question that is being asked right now: joining it is faster than asking anew."""
    who = SessionId(board.tenant, board.session_id)
    flying = {(key.dep, key.args): work for key, work in board.kit.broker.in_flight(who).items()}
    return next((flying[dep, one.args].wanted[who] for one in near if (dep, one.args) in flying), None)


async def write_once(board: Board, dep: str, *, hold: Callable[[str], None]) -> Met:
    """Execute a confirmed write under the session's idempotency key; a repeat returns the first result."""
    spec = board.kit.procedure.dependencies[dep]
    args = {fact: board.desk.facts[fact] for fact in spec.requires if fact in board.desk.facts}
    key = f"{owner_of('session', board.tenant, board.session_id)}:{dep}:{canonical(args)}"
    hold(spec.holding)
    began_s = board.now_s
    outcome = await board.kit.broker.execute_write(dep, spec, args, idempotency_key=key, verified=board.desk.verified)
    stall_s = board.now_s - began_s
    if isinstance(outcome, Fetched) and outcome.items:
        item = outcome.items[0]
        board.desk.writes[key] = item.text
        # What was done stays at hand for the rest of the call: the closing names its reference.
        item.pinned = True
        board.pool.add(item, board.now_s)
        return _book(board, dep, key, Met(item, "write", stall_s, "the caller confirmed"), item)
    if isinstance(outcome, Fetched):
        raise FetchError(dep, f"{dep} returned nothing, so nobody can say that it happened")
    raise FetchError(dep, f"{outcome.reason}: {outcome.detail}")


def _book(board: Board, dep: str, key: str, met: Met, item: Item | None) -> Met:
    spec = board.kit.procedure.dependencies[dep]
    board.log.emit(
        NeedResolved(
            dep=dep,
            key=key,
            how=met.how,
            stall_s=met.stall_s,
            reason=met.reason,
            lead_turns=max(0, board.turn - item.asked_turn) if item is not None and met.how == "ready" else 0,
            latency_s=item.latency_s if item is not None and item.latency_s else spec.latency_s,
            item_id=item.id if item is not None else "",
            # An answer that there is no such record has no item; the fetch that brought it was of use all the same.
            fetched_as=item.args if item is not None else key if met.how == "ready" else "",
            fetched_dep=item.dep if item is not None and item.dep != dep else "",
            asked_by=item.origin if item is not None else "",
        )
    )
    return met

"""Recorded sessions into the precedent store: a call per procedure it went through, counted as if it had been live."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from cuecard.precedents import Precedent, Precedents
from cuecard.predictors.types import UNLABELLED
from evals.real.embedded import with_embeddings
from evals.real.sessions import Session
from evals.real.splits import in_time_order
from evals.real.training import Workshop
from evals.real.views import turn_views

_FLUSH_EVERY = 2000


@dataclass(frozen=True, slots=True)
class Imported:
    n_sessions: int
    n_calls: int
    """Stretches of one procedure: what the store holds as a call."""
    n_turns: int
    n_known: int
    """Sessions that were stored already, so that nothing changed."""


async def import_sessions(
    sessions: Sequence[Session],
    store: Precedents,
    tenant: str,
    now: float,
    shop: Workshop | None,
    advance: Callable[[int, int], None],
) -> Imported:
    """Store all turns, oldest session first; what is there already changes nothing. Without `shop` words get no vector.

    `now` (Unix seconds) is when they count as kept: retention runs from the import, not from the recording.
    """
    waiting: list[Precedent] = []
    names: list[set[str]] = []
    n_turns = n_calls = n_known = 0
    ordered = in_time_order(sessions)
    for done, session in enumerate(ordered, start=1):
        calls = list(_calls(session, tenant, now, shop))
        n_calls += len(calls)
        waiting += [turn for call in calls for turn in call]
        names.append({call[0].session for call in calls})
        if len(waiting) >= _FLUSH_EVERY or done == len(ordered):
            n_turns += len(waiting)
            known = await store.known_sessions(tenant, sorted(set().union(*names)))
            n_known += sum(bool(one) and one <= known for one in names)
            names = []
            await store.record(waiting)
            await store.flush()
            waiting = []
            advance(done, len(ordered))
    return Imported(len(sessions), n_calls, n_turns, n_known)


def _calls(session: Session, tenant: str, now: float, shop: Workshop | None) -> Iterator[list[Precedent]]:
    turns = turn_views(session)
    if shop is not None:
        (turns,) = with_embeddings([turns], shop.embedder, None)
    default = session.sop[0] if session.sop else session.dataset or "imported"
    by_sop: dict[str, list[Precedent]] = {}
    for turn in turns:
        sop = turn.sop or default
        call = by_sop.setdefault(sop, [])
        call.append(
            Precedent(
                tenant=tenant,
                session=session.session_id if sop == default else f"{session.session_id}/{sop}",
                turn=len(call) + 1,
                sop=sop,
                action=turn.label if turn.label != UNLABELLED else turn.action,
                at=now,
                state=turn.state,
                source=turn.source,
                utterance=turn.utterance,
                reply=turn.reply,
                question=turn.utterance.rstrip().endswith("?"),
                embedding=turn.embedding,
                outcome=session.outcome,
            )
        )
    yield from by_sop.values()

"""Turns "this dependency, with what we know" into a job: arguments, query, key, owner."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cuecard.prefetch.safety import missing_facts
from cuecard.prefetch.slots import fill_partly, slots
from cuecard.prefetch.types import FetchCall, FetchJob, FetchKey, Origin, Vector, canonical, owner_of
from sops.models import Dependency, Procedure

WORDS = frozenset({"user_text", "cohort", "mood", "state", "action"})
"""Slots of a query template that are not facts."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a session knows when it asks: values of facts, how often each was corrected, who it is."""

    tenant: str = "default"
    session: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    epochs: Mapping[str, int] = field(default_factory=dict)
    verified: bool = False
    turn: int = 0
    words: Mapping[str, str] = field(default_factory=dict)
    """Values for the template slots in `WORDS`, except `user_text`, which comes with each query."""


@dataclass(frozen=True, slots=True)
class Wish:
    """Why something is wanted; ends up on the job, the item and in the events."""

    origin: Origin = "live"
    for_action: str = ""
    for_offset: int = 0
    p: float = 1.0
    value_s: float = 0.0
    reason: str = ""


def is_query(spec: Dependency) -> bool:
    """Whether its argument is what the caller will say, so that it must be guessed."""
    return spec.query_template is not None and "user_text" in slots(spec.query_template)


def job_for(
    procedure: Procedure,
    dep: str,
    known: Known,
    wish: Wish,
    *,
    user_text: str = "",
    vector: Vector | None = None,
) -> FetchJob | None:
    """The job for `dep` with what is known now; None while a required fact, or a query's words, are missing.

    `vector` is the embedding of the rendered query, if it is known; it is dropped when the template adds words.
    """
    spec = procedure.dependencies[dep]
    if missing_facts(spec, known.facts):
        return None
    args = {name: known.facts[name] for name in spec.requires if known.facts.get(name)}
    used = set(args)
    query = ""
    if spec.query_template is not None:
        wanted = slots(spec.query_template)
        if "user_text" in wanted and not user_text.strip():
            return None
        used.update(name for name in wanted if name in known.facts)
        query = fill_partly(spec.query_template, {**known.words, **known.facts, "user_text": user_text.strip()})
    epoch = sum(known.epochs.get(name, 0) for name in used)
    key = FetchKey(owner_of(spec.scope, known.tenant, known.session), dep, canonical(args, query), epoch)
    same_words = query == user_text.strip()
    return FetchJob(
        key=key,
        call=FetchCall(dep, spec, args, query, vector if same_words else None),
        tenant=known.tenant,
        session=known.session,
        verified=known.verified,
        facts=frozenset(used),
        origin=wish.origin,
        for_action=wish.for_action,
        for_offset=wish.for_offset,
        asked_turn=known.turn,
        p=wish.p,
        value_s=wish.value_s,
        reason=wish.reason,
    )

"""Finds past turns like the present one: recent ones of the same kind, ranked by words and by what else agrees."""

from collections.abc import Collection
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import CompoundSelect, Connection, Row, bindparam, select, union_all

from cuecard.precedents.labels import NAMELESS
from cuecard.precedents.names import shown_name
from cuecard.precedents.schema import sessions, words
from cuecard.precedents.tenants import Tenant
from cuecard.precedents.types import Similar, Vector
from cuecard.precedents.vectors import unsqueeze

CANDIDATES = 64
"""Most recent turns read per width of context; four widths make the whole cost, whatever the history."""

AGREEMENT = {"state": 0.10, "after": 0.10, "mood": 0.06, "cohort": 0.03}
"""What each agreeing feature adds to the cosine (decision 0123)."""


class Situation(NamedTuple):
    """Where the call stands as the caller finishes speaking. An empty field is not compared."""

    sop: str
    state: str = ""
    after: str = ""
    """The agent's last action."""
    mood: str = ""
    cohort: str = ""


class _Candidate(NamedTuple):
    """Its ids are in the order of `AGREEMENT`, the action's last."""

    session_id: int
    turn: int
    state_id: int
    after_id: int
    mood_id: int
    cohort_id: int
    action_id: int


def similar(connection: Connection, tenant: Tenant, where: Situation, vector: Vector, k: int) -> list[Similar]:
    """At most k, best first. Names never seen simply agree with nothing."""
    sop_id = tenant.labels.find(where.sop)
    if not sop_id:
        return []
    ids = {name: tenant.labels.find(getattr(where, name), sop_id) or NAMELESS for name in AGREEMENT}
    candidates = _candidates(connection, tenant.id, sop_id, ids)
    if not candidates:
        return []
    cosines = unsqueeze([one[-1] for one in candidates]) @ vector
    # A name that is not known agrees with nothing, not even with its like.
    here = np.array([ids[name] or -1 for name in AGREEMENT])
    numbers = np.array([one[:6] for one in candidates])
    scores = cosines + (numbers[:, 2:] == here) @ np.array([*AGREEMENT.values()], np.float32)
    # Of equally like ones the newer.
    best = np.lexsort((-numbers[:, 1], -numbers[:, 0], -scores))[:k]
    told = _told(connection, {candidates[row][0] for row in best})
    return [
        _similar(tenant, _Candidate(*candidates[row][:-1]), told, float(scores[row]), float(cosines[row]))
        for row in best
    ]


def _candidates(connection: Connection, tenant_id: int, sop_id: int, ids: dict[str, int]) -> list[Row[Any]]:
    """The most recent turns of each width of context, each turn once: a `_Candidate` and its embedding."""
    # An index is of use only while all columns before are given, so an unknown state ends the narrowing.
    known = [ids[name] != NAMELESS for name in _NARROWING]
    n_widths = 1 + (known.index(False) if False in known else len(known))
    asked = {"tenant": tenant_id, "sop": sop_id, **{name: ids[name] for name in _NARROWING[: n_widths - 1]}}
    rows = connection.execute(_recent(n_widths), asked).all()
    return [*{(row[0], row[1]): row for row in rows}.values()]


_NARROWING = ("state", "after", "mood")
_BY_ID = [words.c[f"{name}_id"] for name in AGREEMENT]


@lru_cache(maxsize=len(_NARROWING) + 1)
def _recent(n_widths: int) -> CompoundSelect[Any]:
    """One statement for all widths, made once: making it takes longer than the database takes to answer."""
    wanted = [words.c.session_id, words.c.turn, *_BY_ID, words.c.action_id, words.c.embedding]
    width = (words.c.tenant_id == bindparam("tenant")) & (words.c.sop_id == bindparam("sop"))
    parts = []
    for name in (None, *_NARROWING[: n_widths - 1]):
        if name is not None:
            width = width & (words.c[f"{name}_id"] == bindparam(name))
        # Each is the front of an index, read from its end.
        newest = select(*wanted).where(width).order_by(words.c.session_id.desc()).limit(CANDIDATES).subquery()
        parts.append(select(newest).where(newest.c.embedding.is_not(None)))
    return union_all(*parts)


_TOLD = (
    select(words.c.session_id, words.c.turn, sessions.c.name, sessions.c.outcome, words.c.utterance, words.c.reply)
    .join(sessions, sessions.c.id == words.c.session_id)
    .where(words.c.session_id.in_(bindparam("sessions", expanding=True)))
)


def _told(connection: Connection, session_ids: Collection[int]) -> dict[tuple[int, int], tuple[str, str, str, str]]:
    """(session's name, outcome, utterance, reply) of all turns of these calls."""
    found = connection.execute(_TOLD, {"sessions": [*session_ids]}).all()
    return {(row[0], row[1]): (row[2], row[3], row[4], row[5]) for row in found}


def _similar(
    tenant: Tenant,
    row: _Candidate,
    told: dict[tuple[int, int], tuple[str, str, str, str]],
    score: float,
    cosine: float,
) -> Similar:
    names = tenant.labels.names
    session, outcome, utterance, reply = told[row.session_id, row.turn]
    return Similar(
        score=score,
        cosine=cosine,
        session=shown_name(session),
        turn=row.turn,
        cohort=names.get(row.cohort_id, ""),
        mood=names.get(row.mood_id, ""),
        state=names.get(row.state_id, ""),
        after=names.get(row.after_id, ""),
        action=names.get(row.action_id, ""),
        utterance=utterance,
        reply=reply,
        outcome=outcome,
    )

"""Finds past turns like the present one: recent ones of the same kind, ranked by words and by what else agrees."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from sqlalchemy import ColumnElement, Connection, RowMapping, select

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


def similar(connection: Connection, tenant: Tenant, where: Situation, vector: Vector, k: int) -> list[Similar]:
    """At most k, best first. Names never seen simply agree with nothing."""
    sop_id = tenant.labels.find(where.sop)
    if not sop_id:
        return []
    ids = {name: tenant.labels.find(getattr(where, name), sop_id) or NAMELESS for name in AGREEMENT}
    found: dict[tuple[int, int], RowMapping] = {}
    for condition in _widths(tenant.id, sop_id, ids):
        recent = select(words).where(condition).order_by(words.c.session_id.desc()).limit(CANDIDATES)
        for row in connection.execute(recent).mappings():
            if row["embedding"] is not None:
                found[row["session_id"], row["turn"]] = row
    candidates = [*found.values()]
    if not candidates:
        return []
    cosines = unsqueeze([row["embedding"] for row in candidates]) @ vector
    agreement = [sum(_agrees(row, name, ids) * bonus for name, bonus in AGREEMENT.items()) for row in candidates]
    scores = cosines + np.array(agreement, np.float32)
    best = np.argsort(-scores, kind="stable")[:k]
    told = _sessions(connection, {candidates[row]["session_id"] for row in best})
    return [
        _similar(tenant, candidates[row], told[candidates[row]["session_id"]], float(scores[row]), float(cosines[row]))
        for row in best
    ]


def _agrees(row: RowMapping, name: str, ids: dict[str, int]) -> bool:
    return ids[name] != NAMELESS and row[f"{name}_id"] == ids[name]


def _widths(tenant_id: int, sop_id: int, ids: dict[str, int]) -> Sequence[ColumnElement[bool]]:
    """Conditions from the narrowest to the widest, each of them the front of an index."""
    width = (words.c.tenant_id == tenant_id) & (words.c.sop_id == sop_id)
    widths = [width]
    for name in ("state", "after", "mood"):
        # An index is of use only while all columns before are given, so an unknown state ends the narrowing.
        if ids[name] == NAMELESS:
            break
        width = width & (words.c[f"{name}_id"] == ids[name])
        widths.append(width)
    return widths[::-1]


def _sessions(connection: Connection, session_ids: Collection[int]) -> dict[int, tuple[str, str]]:
    found = select(sessions.c.id, sessions.c.name, sessions.c.outcome).where(sessions.c.id.in_(session_ids))
    return {row.id: (row.name, row.outcome) for row in connection.execute(found)}


def _similar(tenant: Tenant, row: RowMapping, session: tuple[str, str], score: float, cosine: float) -> Similar:
    names = tenant.labels.names
    return Similar(
        score=score,
        cosine=cosine,
        session=shown_name(session[0]),
        turn=row["turn"],
        cohort=names.get(row["cohort_id"], ""),
        mood=names.get(row["mood_id"], ""),
        state=names.get(row["state_id"], ""),
        after=names.get(row["after_id"], ""),
        action=names.get(row["action_id"], ""),
        utterance=row["utterance"],
        reply=row["reply"],
        outcome=session[1],
    )

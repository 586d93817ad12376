"""Whole calls of the past as steps: who called, what the agent did, what was asked and when; no words."""

from itertools import groupby
from typing import NamedTuple

from sqlalchemy import Connection, select

from cuecard.precedents.schema import sessions, turns, words
from cuecard.precedents.tenants import Tenant

LONGEST = 40
"""Turns read of one call; nobody's habits show in what comes after so many."""


class PastStep(NamedTuple):
    """One finished turn of a past call."""

    cohort: str
    action: str
    topic: int
    """What the caller asked about; 0: nothing."""
    at: float
    """Unix seconds."""


def past_calls(connection: Connection, tenant: Tenant, sop: str, limit: int) -> list[list[PastStep]]:
    """The finished ones among the `limit` most recent calls whose words are still kept, newest first.

    One statement that reads at most `limit` times `LONGEST` turns, whatever the history: the index of words lists a
    procedure's calls by age, so what is past its keep-by date drops out here as well.
    """
    sop_id = tenant.labels.find(sop)
    if not sop_id:
        return []
    recent = (
        select(words.c.session_id)
        .where(words.c.tenant_id == tenant.id, words.c.sop_id == sop_id)
        .distinct()
        .order_by(words.c.session_id.desc())
        .limit(limit)
        .subquery()
    )
    found = connection.execute(
        select(turns.c.session_id, turns.c.cohort_id, turns.c.action_id, turns.c.topic_id, turns.c.at)
        .join(recent, recent.c.session_id == turns.c.session_id)
        .join(sessions, sessions.c.id == turns.c.session_id)
        .where(sessions.c.outcome != "", turns.c.sop_id == sop_id, turns.c.turn <= LONGEST)
        .order_by(turns.c.session_id.desc(), turns.c.turn)
    ).all()
    named = tenant.labels.names.get
    return [
        [PastStep(named(row.cohort_id, ""), named(row.action_id, ""), row.topic_id, row.at) for row in call]
        for _, call in groupby(found, key=lambda row: row.session_id)
    ]

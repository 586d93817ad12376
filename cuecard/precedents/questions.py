"""The question bank as it is stored: what callers asked, and one sentence that speaks for each topic."""

from collections.abc import Collection

from sqlalchemy import Connection, select

from cuecard.precedents.schema import words
from cuecard.precedents.tenants import Tenant
from cuecard.precedents.topics import Topics
from cuecard.precedents.vectors import unsqueeze

READ_PER_TOPIC = 24
"""Most recent questions among which the spokesman is chosen."""


def typical(
    connection: Connection, tenant: Tenant, grouped: Topics, sop: str, topic_ids: Collection[int]
) -> dict[int, str]:
    """For each topic that still has one, the recent question nearest to its centre."""
    found: dict[int, str] = {}
    sop_id = tenant.labels.find(sop) or 0
    for topic_id in topic_ids:
        centre = grouped.centre(sop_id, topic_id)
        if centre is None:
            continue
        recent = connection.execute(
            select(words.c.utterance, words.c.embedding)
            .where(words.c.tenant_id == tenant.id, words.c.topic_id == topic_id, words.c.embedding.is_not(None))
            .order_by(words.c.session_id.desc())
            .limit(READ_PER_TOPIC)
        ).all()
        if recent:
            cosines = unsqueeze([row.embedding for row in recent]) @ centre
            found[topic_id] = recent[int(cosines.argmax())].utterance
    return found

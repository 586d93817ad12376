"""Groups callers' questions by what they are about: by the name given to it, else the nearest topic, else a new one.

A topic is the sum of its questions' unit vectors, so that a forgotten question can be taken out again.
"""

from collections import defaultdict

import numpy as np
from sqlalchemy import Connection, bindparam, delete, select, text

from cuecard.models.embeddings import DIM
from cuecard.precedents.schema import topics
from cuecard.precedents.tenants import Tenant
from cuecard.precedents.types import Vector

SAME_TOPIC = 0.45
"""Cosine to a topic's centre from which a question without a named topic belongs to it (decision 0122)."""
MAX_TOPICS = 1000
"""Per procedure; after that a question without a name joins the nearest topic however far it is."""

_READ = select(topics.c.id, topics.c.sop_id, topics.c.name, topics.c.n, topics.c.vector_sum).where(
    topics.c.tenant_id == bindparam("tenant_id")
)
_WRITE = text(
    "INSERT INTO precedent_topics (tenant_id, id, sop_id, name, n, vector_sum) "
    "VALUES (:tenant_id, :id, :sop_id, :name, :n, :sum) "
    "ON CONFLICT (tenant_id, id) DO UPDATE SET n = excluded.n, vector_sum = excluded.vector_sum"
)


class _Topic:
    def __init__(self, topic_id: int, name: str, n: int, vector_sum: Vector) -> None:
        self.id = topic_id
        self.name = name
        self.n = n
        self.sum = vector_sum


class Topics:
    """One tenant's topics in memory; reloaded when another process has changed them."""

    def __init__(self, tenant: Tenant) -> None:
        self._tenant = tenant
        self._version = -1
        self._by_sop: dict[int, dict[int, _Topic]] = {}
        self._changed: dict[int, set[int]] = defaultdict(set)

    def of(self, tenant: Tenant) -> bool:
        """Whether these are that very tenant's (a forgotten one may have come back under its old name)."""
        return self._tenant is tenant

    def refresh(self, connection: Connection) -> None:
        """Call after `tenant.refresh`, under the tenant's lock when topics will be changed."""
        if self._version == self._tenant.topics_version:
            return
        self._by_sop = {}
        for row in connection.execute(_READ, {"tenant_id": self._tenant.id}):
            topic = _Topic(row.id, row.name, row.n, np.frombuffer(row.vector_sum, np.float32).copy())
            self._by_sop.setdefault(row.sop_id, {})[row.id] = topic
        self._version = self._tenant.topics_version
        self._changed.clear()

    def add(self, sop_id: int, name: str, vector: Vector | None) -> int:
        """Id of the topic the question now belongs to: the one of that name, or without a name the nearest."""
        known = self._by_sop.setdefault(sop_id, {})
        topic, cosine = next((one for one in known.values() if name and one.name == name), None), 1.0
        if not name and vector is not None:
            topic, cosine = _nearest(known, vector)
        if topic is None or (cosine < SAME_TOPIC and len(known) < MAX_TOPICS):
            self._tenant.n_topics += 1
            topic = _Topic(self._tenant.n_topics, name, 0, np.zeros(DIM, np.float32))
            known[topic.id] = topic
        topic.n += 1
        if vector is not None:
            topic.sum += vector
        self._changed[sop_id].add(topic.id)
        return topic.id

    def remove(self, sop_id: int, topic_id: int, vector: Vector | None) -> None:
        """Take one question out."""
        topic = self._by_sop.get(sop_id, {}).get(topic_id)
        if topic is None:
            return
        topic.n -= 1
        if vector is not None:
            topic.sum -= vector
        self._changed[sop_id].add(topic_id)

    def nearest(self, sop_id: int, vector: Vector) -> int:
        """The topic a question would join, without joining it; 0 when it would open a new one."""
        topic, cosine = _nearest(self._by_sop.get(sop_id, {}), vector)
        return topic.id if topic is not None and cosine >= SAME_TOPIC else 0

    def centre(self, sop_id: int, topic_id: int) -> Vector | None:
        """Unit vector of the topic, or None when it is gone."""
        topic = self._by_sop.get(sop_id, {}).get(topic_id)
        return None if topic is None else topic.sum / max(float(np.linalg.norm(topic.sum)), 1e-9)

    def save(self, connection: Connection) -> None:
        """Write what changed; the tenant's own row (with the version) is saved by the caller."""
        if not self._changed:
            return
        values, gone = [], []
        for sop_id, ids in self._changed.items():
            for topic_id in sorted(ids):
                topic = self._by_sop[sop_id][topic_id]
                if topic.n > 0:
                    values.append(
                        {
                            "tenant_id": self._tenant.id,
                            "id": topic_id,
                            "sop_id": sop_id,
                            "name": topic.name,
                            "n": topic.n,
                            "sum": topic.sum.astype(np.float32).tobytes(),
                        }
                    )
                else:
                    gone.append(topic_id)
                    del self._by_sop[sop_id][topic_id]
        if values:
            connection.execute(_WRITE, values)
        if gone:
            connection.execute(delete(topics).where(topics.c.tenant_id == self._tenant.id, topics.c.id.in_(gone)))
        self._changed.clear()
        self._tenant.topics_version += 1
        self._version = self._tenant.topics_version


def _nearest(known: dict[int, _Topic], vector: Vector) -> tuple[_Topic | None, float]:
    if not known:
        return None, 0.0
    candidates = [*known.values()]
    sums = np.stack([topic.sum for topic in candidates])
    cosines = sums @ vector / np.maximum(np.linalg.norm(sums, axis=1), 1e-9)
    best = int(cosines.argmax())
    return candidates[best], float(cosines[best])

"""Blocking reads of words and topics; safe on any thread."""

from collections.abc import Sequence
from threading import Lock

from sqlalchemy import Connection, Engine, select

from cuecard.precedents.engine import reading
from cuecard.precedents.names import HIDDEN, known_as, shown_name
from cuecard.precedents.past import PastStep, past_calls
from cuecard.precedents.questions import typical
from cuecard.precedents.schema import sessions, tenants
from cuecard.precedents.similar import NOBODY, Candidates, Situation, candidates
from cuecard.precedents.tenants import Tenant, current_tenant, find_tenant_id
from cuecard.precedents.topics import Topics
from cuecard.precedents.types import Vector

_ASKED_AT_ONCE = 400
"""Names in one query; each may be filed in two ways, and SQLite takes so many parameters."""


class Reader:
    """Reads are bounded: a fixed number of candidate rows, whatever the history."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._tenants: dict[str, Tenant] = {}
        self._topics: dict[str, Topics] = {}
        self._lock = Lock()

    def candidates(self, name: str, where: Situation) -> Candidates:
        with reading(self.engine) as connection:
            tenant = self._tenant(connection, name)
            return NOBODY if tenant is None else candidates(connection, tenant, where)

    def nearest_topics(self, name: str, sop: str, vectors: Sequence[Vector]) -> list[int]:
        with reading(self.engine) as connection, self._lock:
            known = self._with_topics(connection, name)
            if known is None:
                return [0] * len(vectors)
            tenant, topics = known
            sop_id = tenant.labels.find(sop) or 0
            return [topics.nearest(sop_id, vector) for vector in vectors]

    def typical_questions(self, name: str, sop: str, topic_ids: Sequence[int]) -> dict[int, str]:
        with reading(self.engine) as connection, self._lock:
            known = self._with_topics(connection, name)
            return {} if known is None else typical(connection, *known, sop, topic_ids)

    def past_calls(self, name: str, sop: str, limit: int) -> list[list[PastStep]]:
        with reading(self.engine) as connection:
            tenant = self._tenant(connection, name)
            return [] if tenant is None else past_calls(connection, tenant, sop, limit)

    def tenants_with(self, session: str) -> list[str]:
        """Tenants that have stored a call of that name."""
        with reading(self.engine) as connection:
            names = connection.execute(select(tenants.c.id, tenants.c.name)).all()
            return [name for tenant_id, name in names if _has(connection, tenant_id, known_as(name, session))]

    def tenants(self) -> list[str]:
        with reading(self.engine) as connection:
            return list(connection.execute(select(tenants.c.name)).scalars())

    def sessions_of(self, tenant: str) -> list[str]:
        """Names of a tenant's calls that still have one."""
        with reading(self.engine) as connection:
            of_tenant = sessions.c.tenant_id == find_tenant_id(connection, tenant)
            named = select(sessions.c.name).where(of_tenant, sessions.c.name.not_like(f"{HIDDEN}%"))
            return [shown_name(stored) for stored in connection.execute(named).scalars()]

    def known_sessions(self, tenant: str, names: Sequence[str]) -> set[str]:
        """Which of these calls of a tenant are stored already, under their names or hidden ones."""
        known: set[str] = set()
        with reading(self.engine) as connection:
            of_tenant = sessions.c.tenant_id == find_tenant_id(connection, tenant)
            for start in range(0, len(names), _ASKED_AT_ONCE):
                filed = {
                    stored: name for name in names[start : start + _ASKED_AT_ONCE] for stored in known_as(tenant, name)
                }
                found = connection.execute(select(sessions.c.name).where(of_tenant, sessions.c.name.in_(filed)))
                known.update(filed[stored] for stored in found.scalars())
        return known

    def is_tenant(self, name: str) -> bool:
        with reading(self.engine) as connection:
            return find_tenant_id(connection, name) is not None

    def _tenant(self, connection: Connection, name: str) -> Tenant | None:
        tenant = current_tenant(connection, self._tenants.get(name), name)
        if tenant is None:
            self._tenants.pop(name, None)
        else:
            self._tenants[name] = tenant
        return tenant

    def _with_topics(self, connection: Connection, name: str) -> tuple[Tenant, Topics] | None:
        """The tenant and its topics as they are now; topics are read again only when they have changed."""
        tenant = self._tenant(connection, name)
        if tenant is None:
            return None
        topics = self._topics.get(name)
        if topics is None or not topics.of(tenant):
            topics = self._topics[name] = Topics(tenant)
        topics.refresh(connection)
        return tenant, topics


def _has(connection: Connection, tenant_id: int, names: Sequence[str]) -> bool:
    found = select(sessions.c.id).where(sessions.c.tenant_id == tenant_id, sessions.c.name.in_(names))
    return connection.execute(found).first() is not None

"""One tenant's place in the database: its id, its names, and how its counts age."""

import math

from sqlalchemy import Connection, Engine, bindparam, insert, select, update

from cuecard.precedents.engine import writing
from cuecard.precedents.labels import Labels
from cuecard.precedents.migrations import MIGRATION_LOCK
from cuecard.precedents.schema import tenants

HEADROOM = 512
"""Powers of two that weights may grow before they are scaled back; a float64 overflows at 1024."""

# Built once: SQLAlchemy spends longer on making a statement than SQLite on running it.
_READ = select(tenants).where(tenants.c.id == bindparam("tenant"), tenants.c.name == bindparam("tenant_name"))
_FIND = select(tenants.c.id).where(tenants.c.name == bindparam("name"))
_SAVE = update(tenants).where(tenants.c.id == bindparam("tenant"))


def shift_for(n_sessions: float, half_life: float) -> int:
    """A shift that leaves room above that many sessions, and as much below as can be."""
    return max(0, int(n_sessions / half_life) - HEADROOM // 2)


class Tenant:
    """What a process remembers of a tenant. `refresh` inside a transaction that holds `lock` makes it exact."""

    def __init__(self, tenant_id: int, name: str) -> None:
        self.id = tenant_id
        self.name = name
        self.labels = Labels(tenant_id)
        self.half_life = 0.0
        self.shift = 0
        self.n_sessions = 0
        self.n_topics = 0
        self.topics_version = 0

    @property
    def lock(self) -> int:
        """Number of the advisory lock that serialises this tenant's writers."""
        return MIGRATION_LOCK + self.id

    def weight(self, seq: int) -> float:
        """What one turn of session number `seq` weighs in the stored counts (forward decay: later weighs more)."""
        return math.exp2(seq / self.half_life - self.shift)

    def scale(self) -> float:
        """Factor that makes stored weights say "worth this many turns of the newest session"."""
        return math.exp2(self.shift - self.n_sessions / self.half_life)

    def refresh(self, connection: Connection) -> bool:
        """Read the row again; False when the tenant was forgotten meanwhile."""
        row = connection.execute(_READ, {"tenant": self.id, "tenant_name": self.name}).mappings().first()
        if row is None:
            return False
        self.half_life, self.shift = row["half_life"], row["shift"]
        self.n_sessions, self.n_topics, self.topics_version = row["n_sessions"], row["n_topics"], row["topics_version"]
        return True

    def save(self, connection: Connection) -> None:
        values = {
            "tenant": self.id,
            "half_life": self.half_life,
            "shift": self.shift,
            "n_sessions": self.n_sessions,
            "n_topics": self.n_topics,
            "topics_version": self.topics_version,
        }
        connection.execute(_SAVE, values)


def find_tenant_id(connection: Connection, name: str) -> int | None:
    """The id under which a tenant is stored at present, if it is."""
    tenant_id: int | None = connection.execute(_FIND, {"name": name}).scalar()
    return tenant_id


def find_tenant(connection: Connection, name: str) -> Tenant | None:
    """The tenant with its names loaded, or None when nothing of it is stored."""
    tenant_id = find_tenant_id(connection, name)
    if tenant_id is None:
        return None
    tenant = Tenant(tenant_id, name)
    tenant.refresh(connection)
    tenant.labels.load(connection)
    return tenant


def current_tenant(connection: Connection, known: Tenant | None, name: str) -> Tenant | None:
    """`known` brought up to date with what any process wrote, or found anew; None when nothing of it is stored."""
    if known is None or not known.refresh(connection):
        return find_tenant(connection, name)
    if known.labels.n_stored(connection) != len(known.labels):
        known.labels.load(connection)
    return known


def ensure_tenant(engine: Engine, name: str, half_life: float) -> Tenant:
    """The tenant, made when missing."""
    with writing(engine, MIGRATION_LOCK) as connection:
        if (tenant := find_tenant(connection, name)) is None:
            row = {
                "name": name,
                "half_life": half_life,
                "shift": 0,
                "n_sessions": 0,
                "n_topics": 0,
                "topics_version": 0,
            }
            connection.execute(insert(tenants).values(row))
            tenant = find_tenant(connection, name)
    assert tenant is not None
    return tenant

"""Names as small integers, per tenant, learned as they come and remembered in memory. Id 0 is "nothing".

A renamed action or state keeps its counts: its old name is filed under its procedure and means the new name's id there.
"""

from sqlalchemy import Connection, bindparam, func, insert, select

from cuecard.precedents.schema import labels

_N_STORED = select(func.count()).select_from(labels).where(labels.c.tenant_id == bindparam("tenant"))

NAMELESS = 0
EVERYWHERE = 0
"""`sop_id` of a name that is no procedure's old name."""


class Labels:
    """The names of one tenant. An id's name never changes."""

    def __init__(self, tenant_id: int) -> None:
        self.tenant_id = tenant_id
        self._ids: dict[str, int] = {}
        self._old: dict[tuple[int, str], int] = {}
        self.names: dict[int, str] = {NAMELESS: ""}
        """Id to name; an id that another process has only just made is missing until the next `load`."""

    def __len__(self) -> int:
        return len(self._ids) + len(self._old)

    def n_stored(self, connection: Connection) -> int:
        """How many the database holds: unequal to `len` when another process has added some."""
        return connection.execute(_N_STORED, {"tenant": self.tenant_id}).scalar_one()

    def load(self, connection: Connection) -> None:
        """Everything the database knows, including what other processes added."""
        stored = select(labels.c.sop_id, labels.c.name, labels.c.id).where(labels.c.tenant_id == self.tenant_id)
        for sop_id, name, label_id in connection.execute(stored):
            if sop_id == EVERYWHERE:
                self._ids[name] = label_id
                self.names[label_id] = name
            else:
                self._old[sop_id, name] = label_id

    def find(self, name: str, sop_id: int = EVERYWHERE) -> int | None:
        """The id of a name as that procedure means it, or None for a name never seen."""
        if not name:
            return NAMELESS
        return self._old.get((sop_id, name), self._ids.get(name))

    def ensure(self, connection: Connection, name: str, sop_id: int = EVERYWHERE) -> int:
        """The id, made when missing. Only inside a transaction that holds the tenant's lock."""
        label_id = self.find(name, sop_id)
        if label_id is None:
            self.load(connection)
            label_id = self.find(name, sop_id)
        if label_id is None:
            label_id = max(self.names) + 1
            self._insert(connection, EVERYWHERE, name, label_id)
            self._ids[name] = label_id
            self.names[label_id] = name
        return label_id

    def rename(self, connection: Connection, sop_id: int, old: str, new: str) -> tuple[int, int] | None:
        """Let `old` mean `new` in that procedure; the two ids when turns may be stored under the old one, else None."""
        old_id, new_id = self.find(old, sop_id), self.ensure(connection, new, sop_id)
        if old_id == new_id:
            return None
        self._insert(connection, sop_id, old, new_id)
        self._old[sop_id, old] = new_id
        return (old_id, new_id) if old_id else None

    def _insert(self, connection: Connection, sop_id: int, name: str, label_id: int) -> None:
        connection.execute(insert(labels).values(tenant_id=self.tenant_id, sop_id=sop_id, name=name, id=label_id))

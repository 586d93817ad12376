"""Reads and changes the packed rows of contexts, a bounded number at a time."""

import math
from collections.abc import Iterable, Iterator

from sqlalchemy import Connection, bindparam, delete, select, text

from cuecard.precedents.packed import Entries, Tally, merge, rows, unpack
from cuecard.precedents.schema import contexts

CHUNK = 500
"""Keys per statement: far below every database's limit on parameters."""

_READ = select(contexts.c.key, contexts.c.packed).where(
    contexts.c.tenant_id == bindparam("tenant_id"), contexts.c.key.in_(bindparam("keys", expanding=True))
)
_WRITE = text(
    "INSERT INTO precedent_contexts (tenant_id, key, packed) VALUES (:tenant_id, :key, :packed) "
    "ON CONFLICT (tenant_id, key) DO UPDATE SET packed = excluded.packed"
)


def read(connection: Connection, tenant_id: int, keys: Iterable[int]) -> dict[int, Entries]:
    """The entries of those contexts that were ever seen."""
    wanted = [*keys]
    found: dict[int, Entries] = {}
    for start in range(0, len(wanted), CHUNK):
        part = {"tenant_id": tenant_id, "keys": wanted[start : start + CHUNK]}
        found.update((key, unpack(packed)) for key, packed in connection.execute(_READ, part))
    return found


def apply(connection: Connection, tenant_id: int, change: Tally) -> list[int]:
    """Add `change` to the stored counts; contexts left empty are removed. Returns the keys that moved."""
    changes = rows(change)
    old = read(connection, tenant_id, changes)
    merged = {key: merge(old[key], entries) if key in old else entries for key, entries in changes.items()}
    write(connection, tenant_id, {key: entries for key, entries in merged.items() if len(entries)})
    emptied = [key for key, entries in merged.items() if not len(entries)]
    for start in range(0, len(emptied), CHUNK):
        gone = contexts.c.key.in_(emptied[start : start + CHUNK])
        connection.execute(delete(contexts).where(contexts.c.tenant_id == tenant_id, gone))
    return [*changes]


def write(connection: Connection, tenant_id: int, entries: dict[int, Entries]) -> None:
    """Store rows as they are, in key order (the order they lie on disk)."""
    if entries:
        values = [{"tenant_id": tenant_id, "key": key, "packed": entries[key].tobytes()} for key in sorted(entries)]
        connection.execute(_WRITE, values)


def everything(connection: Connection, tenant_id: int) -> Iterator[dict[int, Entries]]:
    """All contexts of a tenant, in batches by key."""
    after = -(2**63)
    while True:
        batch = connection.execute(
            select(contexts.c.key, contexts.c.packed)
            .where(contexts.c.tenant_id == tenant_id, contexts.c.key > after)
            .order_by(contexts.c.key)
            .limit(CHUNK)
        ).all()
        if not batch:
            return
        after = batch[-1].key
        yield {key: unpack(packed) for key, packed in batch}


def rescale(connection: Connection, tenant_id: int, exponent: int) -> None:
    """Multiply every weight of a tenant by 2^-exponent: exact, and due once in hundreds of half-lives."""
    for batch in everything(connection, tenant_id):
        scaled = {key: entries.copy() for key, entries in batch.items()}
        for entries in scaled.values():
            entries["weight"] *= math.exp2(-exponent)
        write(connection, tenant_id, scaled)

"""All changes to the database, each one transaction under its tenant's lock."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from sqlalchemy import Connection, Engine, select, update

from cuecard.errors import StorageError
from cuecard.models.embeddings import Embedder
from cuecard.precedents import forget
from cuecard.precedents.engine import empty_journal, overwrite_deleted, reading, writing
from cuecard.precedents.names import known_as
from cuecard.precedents.record import record
from cuecard.precedents.schema import sessions, tenants
from cuecard.precedents.tenants import Tenant, ensure_tenant, find_tenant, find_tenant_id
from cuecard.precedents.topics import Topics
from cuecard.precedents.types import Precedent

Moved = dict[str, list[int]]
"""Keys of the contexts whose counts changed, by tenant."""


class _Open(NamedTuple):
    connection: Connection
    tenant: Tenant
    topics: Topics


class Writer:
    """Changes one thing at a time; give it one thread of its own."""

    def __init__(self, engine: Engine, half_life: float, embedder: Embedder | None) -> None:
        self._engine = engine
        self._half_life = half_life
        self._embedder = embedder
        self._known: dict[str, tuple[Tenant, Topics]] = {}

    def record(self, batch: Sequence[Precedent]) -> Moved:
        """Store turns (of any tenants); those already stored are passed over."""
        by_tenant: dict[str, list[Precedent]] = {}
        for precedent in self._with_vectors(batch):
            by_tenant.setdefault(precedent.tenant, []).append(precedent)
        moved: Moved = {}
        for name, part in by_tenant.items():
            self._make(name)
            with self._change(name) as (connection, tenant, topics):
                moved[name] = record(connection, tenant, topics, part).keys
        return moved

    def set_outcome(self, name: str, session: str, outcome: str) -> None:
        if self._knows(name):
            with self._change(name) as (connection, tenant, _):
                of_session = (sessions.c.tenant_id == tenant.id) & sessions.c.name.in_(known_as(name, session))
                connection.execute(update(sessions).where(of_session).values(outcome=outcome))

    def forget_session(self, name: str, session: str) -> tuple[int, Moved]:
        if not self._knows(name):
            return 0, {}
        with self._change(name) as (connection, tenant, topics):
            overwrite_deleted(connection)
            n_turns, keys = forget.forget_session(connection, tenant, topics, known_as(name, session))
        empty_journal(self._engine)
        return n_turns, {name: keys}

    def forget_tenant(self, name: str) -> int:
        if not self._knows(name):
            return 0
        with self._change(name) as (connection, tenant, _):
            overwrite_deleted(connection)
            n_turns = forget.forget_tenant(connection, tenant)
        empty_journal(self._engine)
        del self._known[name]
        return n_turns

    def purge(self, started_before: float) -> int:
        with reading(self._engine) as connection:
            names = connection.execute(select(tenants.c.name)).scalars().all()
        n_sessions = 0
        for name in filter(self._knows, names):
            n_done = 1
            while n_done:
                with self._change(name) as (connection, tenant, topics):
                    overwrite_deleted(connection)
                    n_done = forget.anonymise(connection, tenant, topics, started_before)
                n_sessions += n_done
        empty_journal(self._engine)
        return n_sessions

    def rename(self, name: str, sop: str, aliases: Mapping[str, str]) -> bool:
        self._make(name)
        with self._change(name) as (connection, tenant, _):
            return forget.rename(connection, tenant, sop, aliases)

    def recount(self, name: str, half_life: float | None) -> None:
        if self._knows(name):
            with self._change(name) as (connection, tenant, _):
                forget.rebuild(connection, tenant, tenant.half_life if half_life is None else half_life)

    def _knows(self, name: str) -> bool:
        """Whether the tenant is stored; what another process forgot is dropped from memory here."""
        with reading(self._engine) as connection:
            stored_id = find_tenant_id(connection, name)
            if name in self._known and self._known[name][0].id != stored_id:
                del self._known[name]
            if name not in self._known and (found := find_tenant(connection, name)) is not None:
                self._remember(found)
        return name in self._known

    def _make(self, name: str) -> None:
        if not self._knows(name):
            self._remember(ensure_tenant(self._engine, name, self._half_life))

    def _remember(self, tenant: Tenant) -> None:
        self._known[tenant.name] = (tenant, Topics(tenant))

    @contextmanager
    def _change(self, name: str) -> Iterator[_Open]:
        """A transaction with the tenant as it is now. A failure drops our copy, which may be ahead of the disk."""
        tenant, topics = self._known[name]
        try:
            with writing(self._engine, tenant.lock) as connection:
                if not tenant.refresh(connection):
                    raise StorageError(f"Tenant {name!r} was forgotten by another process just now.")
                topics.refresh(connection)
                yield _Open(connection, tenant, topics)
        except BaseException:
            self._known.pop(name, None)
            raise

    def _with_vectors(self, batch: Sequence[Precedent]) -> Sequence[Precedent]:
        """Embed the words that have no vector (those that redaction changed, above all)."""
        bare = [index for index, precedent in enumerate(batch) if precedent.embedding is None and precedent.utterance]
        if self._embedder is None or not bare:
            return batch
        out = [*batch]
        for index, vector in zip(bare, self._embedder.embed([batch[i].utterance for i in bare]), strict=True):
            out[index] = replace(out[index], embedding=vector)
        return out

"""Fills a fresh store with so many turns at disk speed: raw turns in bulk, counts by array arithmetic."""

from collections.abc import Iterator, Sequence

import numpy as np
from sqlalchemy import Connection, Engine, Table, text

from cuecard.precedents import rows
from cuecard.precedents.contexts import key
from cuecard.precedents.engine import writing
from cuecard.precedents.schema import sessions, turns
from cuecard.precedents.tenants import Tenant, ensure_tenant, shift_for
from evals.scale.tallies import Tallies, column_codes, context, entries
from evals.scale.world import (
    MAX_TURNS,
    MEAN_TURNS,
    N_ACTIONS,
    N_COHORTS,
    N_MOODS,
    N_SOPS,
    N_SOURCES,
    N_STATES,
    Calls,
    World,
)

CALLS_AT_ONCE = 20_000
NAMES = {
    "sop": [f"procedure_{i}" for i in range(N_SOPS)],
    "action": [f"action_{i}" for i in range(N_ACTIONS)],
    "state": [f"state_{i}" for i in range(N_STATES)],
    "cohort": [f"cohort_{i}" for i in range(N_COHORTS)],
    "mood": [f"mood_{i}" for i in range(N_MOODS)],
    "source": ["", *(f"source_{i}" for i in range(1, N_SOURCES))],
    "topic": [""],
}


def fill(engine: Engine, tenant_name: str, world: World, n_turns: int, half_life: float, seed: int = 0) -> None:
    """Exactly n_turns turns (words left out: neither prediction nor counting reads them)."""
    tenant = ensure_tenant(engine, tenant_name, half_life)
    with writing(engine, tenant.lock) as connection:
        tenant.refresh(connection)
        ids = {kind: [tenant.labels.ensure(connection, name) for name in names] for kind, names in NAMES.items()}
        tenant.shift = shift_for(n_turns / MEAN_TURNS, half_life)
        tallies = Tallies()
        for calls in _exactly(world, np.random.default_rng(seed), n_turns):
            seq = tenant.n_sessions + 1 + np.arange(len(calls.sop))
            tenant.n_sessions += len(calls.sop)
            tallies.add(calls, np.exp2(seq / half_life - tenant.shift))
            _store(connection, tenant, calls, seq, ids)
        codes = column_codes(ids)
        packed = {key(ids["sop"][one.sop], context(one, ids)): entries(one, codes) for one in tallies.found()}
        rows.write(connection, tenant.id, packed)
        tenant.save(connection)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("ANALYZE"))
        else:
            connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))


def _exactly(world: World, rng: np.random.Generator, n_turns: int) -> Iterator[Calls]:
    while n_turns:
        calls = world.draw(rng, min(CALLS_AT_ONCE, int(n_turns / MEAN_TURNS) + 1))
        total = np.cumsum(calls.length)
        n_calls = int(np.searchsorted(total, n_turns)) + 1
        calls = calls.first(n_calls)
        if total[len(calls.sop) - 1] > n_turns:
            calls.length[-1] -= total[len(calls.sop) - 1] - n_turns
        n_turns -= int(calls.length.sum())
        yield calls


def _store(connection: Connection, tenant: Tenant, calls: Calls, seq: np.ndarray, ids: dict[str, list[int]]) -> None:
    """Session ids equal sequence numbers: the store is fresh."""
    numbers = seq.tolist()
    made = ((n, tenant.id, f"call-{n}", n, n * 60.0, "") for n in numbers)
    _insert(connection, sessions, ["id", "tenant_id", "name", "seq", "started_at", "outcome"], [*made])
    row, turn = np.nonzero(np.arange(MAX_TURNS)[None, :] < calls.length[:, None])
    number = seq[row]
    columns = {
        "session_id": number,
        "turn": turn,
        "at": number * 60.0 + turn * 8.0,
        "sop_id": np.array(ids["sop"])[calls.sop[row]],
        "sop_version": np.ones(len(row), np.int64),
        "cohort_id": np.array(ids["cohort"])[calls.cohort[row]],
        "mood_id": np.array(ids["mood"])[calls.mood[row]],
        "state_id": np.array(ids["state"])[calls.state[row, turn]],
        "action_id": np.array(ids["action"])[calls.action[row, turn]],
        "source_id": np.array(ids["source"])[calls.source[row, turn]],
        "topic_id": np.zeros(len(row), np.int64),
        "due_id": np.array(ids["action"])[calls.due[row, turn]],
    }
    values = zip(*(column.tolist() for column in columns.values()), strict=True)
    _insert(connection, turns, [*columns], [*values])


def _insert(connection: Connection, table: Table, names: Sequence[str], values: list[tuple[object, ...]]) -> None:
    """Past SQLAlchemy on purpose: ten million dictionaries would take longer than the database does."""
    mark = "?" if connection.dialect.name == "sqlite" else "%s"
    statement = f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({', '.join([mark] * len(names))})"
    connection.exec_driver_sql(statement, values)

"""Takes things back out: one call, a whole tenant, or the words of calls past their keep-by date."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, delete, select, update

from cuecard.precedents import rows
from cuecard.precedents.contexts import Step
from cuecard.precedents.names import HIDDEN, hidden_name
from cuecard.precedents.packed import Tally
from cuecard.precedents.record import contribution, drop_questions, step, total
from cuecard.precedents.schema import contexts, labels, sessions, tenants, topics, turns, words
from cuecard.precedents.tenants import Tenant, shift_for
from cuecard.precedents.topics import Topics

BATCH = 500
"""Sessions handled in one go."""


def forget_session(
    connection: Connection, tenant: Tenant, grouped: Topics, names: Sequence[str]
) -> tuple[int, list[int]]:
    """Remove a call: its turns, words, questions, and what it added to the counts.

    Returns how many turns, and the keys of the contexts that moved.
    """
    found = connection.execute(
        select(sessions.c.id, sessions.c.seq).where(sessions.c.tenant_id == tenant.id, sessions.c.name.in_(names))
    ).first()
    if found is None:
        return 0, []
    steps = _steps(connection, [found.id]).get(found.id, [])
    taught = contribution(steps, 0, tenant.weight(found.seq)).negated()
    moved = rows.apply(connection, tenant.id, total([taught]))
    drop_questions(connection, grouped, words.c.session_id == found.id)
    for table in (words, turns):
        connection.execute(delete(table).where(table.c.session_id == found.id))
    connection.execute(delete(sessions).where(sessions.c.id == found.id))
    grouped.save(connection)
    tenant.save(connection)
    return len(steps), moved


def forget_tenant(connection: Connection, tenant: Tenant) -> int:
    """Remove everything a tenant ever stored. Returns how many turns that was."""
    of_tenant = select(sessions.c.id).where(sessions.c.tenant_id == tenant.id)
    n_turns = connection.execute(delete(turns).where(turns.c.session_id.in_(of_tenant))).rowcount
    for table in (words, contexts, topics, sessions, labels):
        connection.execute(delete(table).where(table.c.tenant_id == tenant.id))
    connection.execute(delete(tenants).where(tenants.c.id == tenant.id))
    return n_turns


def anonymise(connection: Connection, tenant: Tenant, grouped: Topics, started_before: float) -> int:
    """Remove words, vectors and name of at most BATCH calls that began before then; their steps stay counted.

    Returns how many calls: call again until 0.
    """
    old = connection.execute(
        select(sessions.c.id, sessions.c.name)
        .where(
            sessions.c.tenant_id == tenant.id,
            sessions.c.started_at < started_before,
            sessions.c.name.not_like(f"{HIDDEN}%"),
        )
        .limit(BATCH)
    ).all()
    ids = [row.id for row in old]
    drop_questions(connection, grouped, words.c.session_id.in_(ids))
    connection.execute(delete(words).where(words.c.session_id.in_(ids)))
    for row in old:
        connection.execute(
            update(sessions).where(sessions.c.id == row.id).values(name=hidden_name(tenant.name, row.name))
        )
    grouped.save(connection)
    tenant.save(connection)
    return len(ids)


def rebuild(connection: Connection, tenant: Tenant, half_life: float) -> None:
    """Count everything anew from the stored turns, as if each had just been recorded in its order."""
    tenant.half_life = half_life
    tenant.shift = shift_for(tenant.n_sessions, half_life)
    connection.execute(delete(contexts).where(contexts.c.tenant_id == tenant.id))
    after = 0
    while True:
        batch = connection.execute(
            select(sessions.c.id, sessions.c.seq)
            .where(sessions.c.tenant_id == tenant.id, sessions.c.id > after)
            .order_by(sessions.c.id)
            .limit(BATCH)
        ).all()
        if not batch:
            break
        after = batch[-1].id
        steps = _steps(connection, [row.id for row in batch])
        tallies: list[Tally] = [
            contribution(steps[row.id], 0, tenant.weight(row.seq)) for row in batch if row.id in steps
        ]
        if tallies:
            rows.apply(connection, tenant.id, total(tallies))
    tenant.save(connection)


def rename(connection: Connection, tenant: Tenant, sop: str, renamed: Mapping[str, str]) -> bool:
    """Let a procedure's old names mean its new ones and count anew; False when there was nothing to do."""
    sop_id = tenant.labels.ensure(connection, sop)
    pairs = [tenant.labels.rename(connection, sop_id, old, new) for old, new in renamed.items()]
    of_tenant = select(sessions.c.id).where(sessions.c.tenant_id == tenant.id)
    stored = (turns.c.session_id.in_(of_tenant)) & (turns.c.sop_id == sop_id)
    spoken = (words.c.tenant_id == tenant.id) & (words.c.sop_id == sop_id)
    n_changed = 0
    for old_id, new_id in filter(None, pairs):
        for column in (turns.c.action_id, turns.c.state_id, turns.c.due_id):
            found = connection.execute(update(turns).where(stored, column == old_id).values({column.name: new_id}))
            n_changed += found.rowcount
        for column in (words.c.after_id, words.c.action_id, words.c.state_id):
            connection.execute(update(words).where(spoken, column == old_id).values({column.name: new_id}))
    if n_changed:
        rebuild(connection, tenant, tenant.half_life)
    return n_changed > 0


def _steps(connection: Connection, session_ids: Sequence[int]) -> dict[int, list[Step]]:
    found: dict[int, list[Step]] = {}
    in_order = select(turns).where(turns.c.session_id.in_(session_ids)).order_by(turns.c.session_id, turns.c.turn)
    for row in connection.execute(in_order).mappings():
        found.setdefault(row["session_id"], []).append(step(row))
    return found

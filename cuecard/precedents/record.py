"""Writes finished turns: names become ids, questions find their topic, counts grow. One transaction a batch."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from sqlalchemy import ColumnElement, Connection, RowMapping, bindparam, delete, insert, select, update

from cuecard.precedents import rows
from cuecard.precedents.contexts import Step
from cuecard.precedents.counting import REACH, seen_from_before
from cuecard.precedents.engine import overwrite_deleted
from cuecard.precedents.names import known_as
from cuecard.precedents.packed import Tally, tally
from cuecard.precedents.schema import sessions, turns, words
from cuecard.precedents.tenants import HEADROOM, Tenant
from cuecard.precedents.topics import Topics
from cuecard.precedents.types import Precedent
from cuecard.precedents.vectors import squeeze, unsqueeze

_SESSION = select(sessions.c.id, sessions.c.seq).where(
    sessions.c.tenant_id == bindparam("tenant_id"), sessions.c.name.in_(bindparam("names", expanding=True))
)
_TURNS = (
    select(turns)
    .where(turns.c.session_id == bindparam("session_id"))
    .order_by(turns.c.turn.desc())
    .limit(bindparam("n"))
)
# Built once: SQLAlchemy spends longer on making a statement than SQLite on running it.
_ADD_SESSION = insert(sessions)
_ADD_TURNS = insert(turns)
_ADD_WORDS = insert(words)
_MEND = (
    update(words)
    .where(words.c.session_id == bindparam("session"), words.c.turn == bindparam("number"))
    .values(after_id=bindparam("after"))
)
_END = update(sessions).where(sessions.c.id == bindparam("session")).values(outcome=bindparam("how"))
ALL = 1_000_000


class Written(NamedTuple):
    """What a batch did."""

    n_new: int
    """Turns that were not there before."""
    keys: list[int]
    """Contexts whose counts moved."""


def record(connection: Connection, tenant: Tenant, topics: Topics, batch: Sequence[Precedent]) -> Written:
    """Store one tenant's turns and count them; those already stored are passed over. Needs the tenant's lock.

    Bounded: a turn at the end of its session reads the five before it and changes a fixed number of contexts.
    A turn that arrives late (before one already stored, or instead of it) has its whole session counted anew.
    """
    while tenant.n_sessions / tenant.half_life - tenant.shift > HEADROOM:
        rows.rescale(connection, tenant.id, HEADROOM)
        tenant.shift += HEADROOM
    by_session: dict[str, dict[int, Precedent]] = {}
    for precedent in batch:
        fresh = by_session.setdefault(precedent.session, {})
        if precedent.instead or precedent.turn not in fresh:
            fresh[precedent.turn] = precedent
    tallies: list[Tally] = []
    new_turns: list[dict[str, object]] = []
    new_words: list[dict[str, object]] = []
    for name, fresh in by_session.items():
        session = _session(connection, tenant, known_as(tenant.name, name), fresh)
        before = [*connection.execute(_TURNS, {"session_id": session.id, "n": REACH}).mappings()] if session.old else []
        late = bool(before) and min(fresh) <= before[0]["turn"]
        if late:
            before = [*connection.execute(_TURNS, {"session_id": session.id, "n": ALL}).mappings()]
        stored = {row["turn"]: row for row in reversed(before)}
        fresh = {turn: fresh[turn] for turn in sorted(fresh) if turn not in stored or fresh[turn].instead}
        if not fresh:
            continue
        steps = {turn: step(row) for turn, row in stored.items()}
        weight = tenant.weight(session.seq)
        if late:
            tallies.append(contribution([*steps.values()], 0, weight).negated())
        if taken_back := stored.keys() & fresh.keys():
            _drop(connection, topics, session.id, taken_back)
            steps = {turn: steps[turn] for turn in steps if turn not in taken_back}
        for turn, precedent in fresh.items():
            steps[turn], embedding = _step(connection, tenant, topics, precedent)
            new_turns.append(_turn_row(session.id, precedent, steps[turn]))
            if precedent.utterance or precedent.reply or embedding is not None:
                after = max((other for other in steps if other < turn), default=None)
                after_id = steps[after].action if after is not None else 0
                new_words.append(_words_row(session.id, tenant.id, precedent, steps[turn], after_id, embedding))
        in_order = [steps[turn] for turn in sorted(steps)]
        if late:
            _mend_after(connection, session.id, steps)
        tallies.append(contribution(in_order, 0 if late else len(stored), weight))
    if not new_turns:
        return Written(0, [])
    connection.execute(_ADD_TURNS, new_turns)
    if new_words:
        connection.execute(_ADD_WORDS, new_words)
    moved = rows.apply(connection, tenant.id, total(tallies))
    topics.save(connection)
    tenant.save(connection)
    return Written(len(new_turns), moved)


def contribution(steps: Sequence[Step], first_new: int, weight: float) -> Tally:
    """What steps[first_new:] add to the counts, each worth `weight`; not summed yet, see `total`."""
    keys, codes = seen_from_before(steps, first_new)
    return Tally(keys, codes, np.ones(len(keys), np.int64), np.full(len(keys), weight))


def total(tallies: Sequence[Tally]) -> Tally:
    """The sum of several contributions, ready to be applied."""
    return tally(*(np.concatenate(parts) for parts in zip(*tallies, strict=True)))


def step(row: RowMapping) -> Step:
    """A stored turn as label ids."""
    return Step(
        row["sop_id"],
        row["cohort_id"],
        row["mood_id"],
        row["state_id"],
        row["action_id"],
        row["source_id"],
        row["topic_id"],
        row["due_id"],
    )


def drop_questions(connection: Connection, grouped: Topics, these: ColumnElement[bool]) -> None:
    """Take the questions among these rows of `words` out of their topics."""
    asked = select(words.c.sop_id, words.c.topic_id, words.c.embedding).where(these, words.c.topic_id != 0)
    for row in connection.execute(asked):
        vector = unsqueeze([row.embedding])[0] if row.embedding is not None else None
        grouped.remove(row.sop_id, row.topic_id, vector)


def _drop(connection: Connection, grouped: Topics, session_id: int, numbers: Collection[int]) -> None:
    """Remove turns that were taken back."""
    overwrite_deleted(connection)
    drop_questions(connection, grouped, (words.c.session_id == session_id) & words.c.turn.in_(numbers))
    for table in (words, turns):
        connection.execute(delete(table).where(table.c.session_id == session_id, table.c.turn.in_(numbers)))


class _Session(NamedTuple):
    id: int
    seq: int
    old: bool


def _session(connection: Connection, tenant: Tenant, names: list[str], fresh: dict[int, Precedent]) -> _Session:
    """The session's row, made when missing; every new session moves the tenant's age on by one."""
    found = connection.execute(_SESSION, {"tenant_id": tenant.id, "names": names}).first()
    outcome = next((precedent.outcome for precedent in fresh.values() if precedent.outcome), "")
    if found is not None:
        if outcome or any(precedent.instead for precedent in fresh.values()):
            connection.execute(_END, {"session": found.id, "how": outcome})
        return _Session(found.id, found.seq, old=True)
    tenant.n_sessions += 1
    first = fresh[min(fresh)]
    made = connection.execute(
        _ADD_SESSION,
        {
            "tenant_id": tenant.id,
            "name": names[0],
            "seq": tenant.n_sessions,
            "started_at": first.at,
            "outcome": outcome,
        },
    )
    assert made.inserted_primary_key is not None
    return _Session(made.inserted_primary_key[0], tenant.n_sessions, old=False)


def _step(connection: Connection, tenant: Tenant, topics: Topics, precedent: Precedent) -> tuple[Step, bytes | None]:
    labels = tenant.labels
    sop_id = labels.ensure(connection, precedent.sop)

    def label(name: str) -> int:
        return labels.ensure(connection, name, sop_id)

    embedding = None if precedent.embedding is None else squeeze(precedent.embedding)
    topic_id = 0
    if precedent.question and (precedent.topic or embedding is not None):
        # The vector as it will be read back: forgetting it must take away exactly what was added.
        vector = None if embedding is None else unsqueeze([embedding])[0]
        topic_id = topics.add(sop_id, precedent.topic, vector)
    found = Step(
        sop_id,
        label(precedent.cohort),
        label(precedent.mood),
        label(precedent.state),
        label(precedent.action),
        label(precedent.source),
        topic_id,
        label(precedent.due),
    )
    return found, embedding


def _mend_after(connection: Connection, session_id: int, steps: dict[int, Step]) -> None:
    """A late turn is the new "turn before" of the one that follows it."""
    in_order = sorted(steps)
    values = [
        {"session": session_id, "number": turn, "after": steps[before].action} for before, turn in pairwise(in_order)
    ]
    if values:
        connection.execute(_MEND, values)


def _turn_row(session_id: int, precedent: Precedent, ids: Step) -> dict[str, object]:
    return {
        "session_id": session_id,
        "turn": precedent.turn,
        "at": precedent.at,
        "sop_id": ids.sop,
        "sop_version": precedent.sop_version,
        "cohort_id": ids.cohort,
        "mood_id": ids.mood,
        "state_id": ids.state,
        "action_id": ids.action,
        "source_id": ids.source,
        "topic_id": ids.topic,
        "due_id": ids.due,
    }


def _words_row(
    session_id: int, tenant_id: int, precedent: Precedent, ids: Step, after_id: int, embedding: bytes | None
) -> dict[str, object]:
    return {
        "session_id": session_id,
        "turn": precedent.turn,
        "tenant_id": tenant_id,
        "sop_id": ids.sop,
        "state_id": ids.state,
        "after_id": after_id,
        "mood_id": ids.mood,
        "cohort_id": ids.cohort,
        "action_id": ids.action,
        "topic_id": ids.topic,
        "utterance": precedent.utterance,
        "reply": precedent.reply,
        "embedding": embedding,
    }

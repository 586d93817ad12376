"""The tables as they stand after the last migration; queries are written against these.

Names (procedures, actions, states, moods, sources) are small integers per tenant, contexts are 64-bit keys, and what
grows with every call (`turns`) is separate from the words, so that counting never reads text.
"""

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

tenants = Table(
    "precedent_tenants",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("half_life", Float, nullable=False),
    # Weights are 2^(session / half_life - shift): `shift` moves up before they overflow.
    Column("shift", Integer, nullable=False, default=0),
    Column("n_sessions", Integer, nullable=False, default=0),
    Column("n_topics", Integer, nullable=False, default=0),
    # Goes up with every change of a topic, so that a process knows when its copy is old.
    Column("topics_version", Integer, nullable=False, default=0),
)

labels = Table(
    "precedent_labels",
    metadata,
    Column("tenant_id", Integer, ForeignKey("precedent_tenants.id"), primary_key=True),
    # 0, or the procedure in which this is the old name of something since renamed.
    Column("sop_id", Integer, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("id", Integer, nullable=False),
    sqlite_with_rowid=False,
)

sessions = Table(
    "precedent_sessions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("tenant_id", Integer, ForeignKey("precedent_tenants.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("started_at", Float, nullable=False),
    Column("outcome", Text, nullable=False, default=""),
    UniqueConstraint("tenant_id", "name"),
    Index("precedent_sessions_by_age", "started_at"),
)

turns = Table(
    "precedent_turns",
    metadata,
    Column("session_id", Integer, ForeignKey("precedent_sessions.id"), primary_key=True),
    Column("turn", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("sop_id", Integer, nullable=False),
    Column("sop_version", Integer, nullable=False),
    Column("cohort_id", Integer, nullable=False),
    Column("mood_id", Integer, nullable=False),
    Column("state_id", Integer, nullable=False),
    Column("action_id", Integer, nullable=False),
    Column("source_id", Integer, nullable=False),
    Column("topic_id", Integer, nullable=False, default=0),
    Column("due_id", Integer, nullable=False, default=0),
    sqlite_with_rowid=False,
)

words = Table(
    "precedent_words",
    metadata,
    Column("session_id", Integer, ForeignKey("precedent_sessions.id"), primary_key=True),
    Column("turn", Integer, primary_key=True),
    Column("tenant_id", Integer, nullable=False),
    Column("sop_id", Integer, nullable=False),
    Column("state_id", Integer, nullable=False),
    Column("after_id", Integer, nullable=False),
    Column("mood_id", Integer, nullable=False),
    Column("cohort_id", Integer, nullable=False),
    Column("action_id", Integer, nullable=False),
    Column("topic_id", Integer, nullable=False, default=0),
    Column("utterance", Text, nullable=False),
    Column("reply", Text, nullable=False),
    Column("embedding", LargeBinary, nullable=True),
    # One index per width of search, each ending in the session so that "the most recent n" is a range read.
    Index("precedent_words_by_mood", "tenant_id", "sop_id", "state_id", "after_id", "mood_id", "session_id"),
    Index("precedent_words_by_step", "tenant_id", "sop_id", "state_id", "after_id", "session_id"),
    Index("precedent_words_by_state", "tenant_id", "sop_id", "state_id", "session_id"),
    Index("precedent_words_by_sop", "tenant_id", "sop_id", "session_id"),
    Index("precedent_words_by_topic", "tenant_id", "topic_id", "session_id"),
)

topics = Table(
    "precedent_topics",
    metadata,
    Column("tenant_id", Integer, ForeignKey("precedent_tenants.id"), primary_key=True),
    Column("id", Integer, primary_key=True),
    Column("sop_id", Integer, nullable=False),
    # Name the topic was given ("" for one that was found by likeness).
    Column("name", Text, nullable=False, default=""),
    Column("n", Integer, nullable=False),
    # Sum of the questions' unit vectors, float32: adding and taking away keeps the centre right.
    Column("vector_sum", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

contexts = Table(
    "precedent_contexts",
    metadata,
    Column("tenant_id", Integer, ForeignKey("precedent_tenants.id"), primary_key=True),
    Column("key", BigInteger, primary_key=True),
    Column("packed", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

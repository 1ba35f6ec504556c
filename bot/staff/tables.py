"""Tables: alarms, the audit log, and groups that got a new id."""

from sqlalchemy import BigInteger, Column, Index, Table, Text

from bot.infra.db.columns import (
    OWNER,
    SEALED,
    STAFF,
    BigId,
    Instant,
    Json,
    metadata,
    not_exported,
    not_pruned,
    partial_index,
    stays,
)

alarms = Table(
    "alarms",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("facts", Json, nullable=False),
    Column("raised_at", Instant, nullable=False),
    Column("joined_until", Instant),
    Column("reminded_at", Instant),
    Column("cleared_at", Instant),
    Column("taken_by", BigInteger, info=STAFF),
    Column("taken_at", Instant),
    Index(None, "raised_at"),
)
IS_RAISED = alarms.c.cleared_at.is_(None)
# At most one open alarm for each kind and subject.
partial_index("uq_alarms_raised", alarms.c.kind, alarms.c.subject, where=IS_RAISED, unique=True)

audit = Table(
    "audit",
    metadata,
    Column("id", Text, primary_key=True),  # the time and a random part, so that rows sort by time
    Column("at", Instant, nullable=False),
    Column("actor_id", BigInteger, nullable=False, info=STAFF),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("user_id", BigInteger, nullable=False, info=OWNER),
    Column("detail", Text, nullable=False, info=SEALED),
    Index(None, "actor_id", "id"),
    Index(None, "user_id"),
    info={
        **not_exported("what staff did: it belongs to the operator"),
        **stays("what staff did; about whom, and what they said about it, is removed"),
        **not_pruned("what staff did stays"),
    },
)

moved_chats = Table(
    "moved_chats",
    metadata,
    Column("old_id", BigInteger, primary_key=True, autoincrement=False),
    Column("new_id", BigInteger, nullable=False),
)

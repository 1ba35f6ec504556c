"""The table of broadcasts. Their messages to readers are rows of the outbox."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, Table, Text, and_, exists

from bot.broadcasts.model import SUBJECT, BroadcastNotification, BroadcastStatus
from bot.infra.db.columns import STAFF, Instant, Json, constant, metadata, partial_index
from bot.infra.outbox.tables import outbox

broadcasts = Table(
    "broadcasts",
    metadata,
    Column("id", Text, primary_key=True),
    Column("operator_id", BigInteger, nullable=False, info=STAFF),
    Column("status", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("is_rate", Boolean, nullable=False),
    Column("texts", Json, nullable=False),
    Column("picture", Text),
    Column("audience", Json, nullable=False),
    Column("quote", Json),
    Column("starts_at", Instant),
    Column("daily_minute", Integer),
    Column("series", Text),
    Column("created_at", Instant, nullable=False),
    Column("confirmed_at", Instant),
    Column("confirmed_by", BigInteger, info=STAFF),
    Column("started_at", Instant),
    Column("ended_at", Instant),
    Column("size", Integer, nullable=False),
    Column("next_reader", BigInteger),
    Column("chat_id", BigInteger, info=STAFF),
    Column("message_id", BigInteger),
    Column("report", Json),
    Index(None, "created_at"),
)
IS_OPEN = broadcasts.c.ended_at.is_(None) & broadcasts.c.status.in_(
    [
        constant(BroadcastStatus.SCHEDULED),
        constant(BroadcastStatus.RUNNING),
        constant(BroadcastStatus.PAUSED),
        constant(BroadcastStatus.STOPPED),
    ]
)
partial_index("ix_broadcasts_open", broadcasts.c.starts_at, where=IS_OPEN)
IS_DRAFT = broadcasts.c.status == constant(BroadcastStatus.DRAFT)
partial_index("ix_broadcasts_drafts", broadcasts.c.operator_id, broadcasts.c.created_at, where=IS_DRAFT)

IS_OF_OPEN = and_(
    outbox.c.kind == constant(BroadcastNotification.MESSAGE),
    exists().where(IS_OPEN, constant(SUBJECT).concat(broadcasts.c.id) == outbox.c.subject),
)
"""The condition that a notification is a message of a broadcast that hasn't ended. Its result is still counted."""

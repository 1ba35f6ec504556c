"""Tables of broadcasts and of their deliveries."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, Table, Text

from bot.broadcasts.model import BroadcastStatus, DeliveryStatus
from bot.infra.db.columns import STAFF, USER, BigId, Instant, Json, constant, not_exported, partial_index
from bot.infra.db.metadata import metadata

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
    Column("chat_id", BigInteger, info=STAFF),
    Column("message_id", BigInteger),
    Column("report", Json),
    Index(None, "created_at"),
)
IS_IN_PROGRESS = broadcasts.c.status.in_(
    [constant(BroadcastStatus.SCHEDULED), constant(BroadcastStatus.RUNNING), constant(BroadcastStatus.PAUSED)]
)
partial_index("ix_broadcasts_in_progress", broadcasts.c.starts_at, where=IS_IN_PROGRESS)
IS_DRAFT = broadcasts.c.status == constant(BroadcastStatus.DRAFT)
partial_index("ix_broadcasts_drafts", broadcasts.c.operator_id, broadcasts.c.created_at, where=IS_DRAFT)

deliveries = Table(
    "deliveries",
    metadata,
    Column("broadcast_id", Text, ForeignKey("broadcasts.id", ondelete="CASCADE"), primary_key=True),
    Column("user_id", BigId, primary_key=True, autoincrement=False, info=USER),
    Column("locale", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("at", Instant),
    Column("failure", Text),
    Index(None, "user_id"),
    info=not_exported("who was sent which broadcast: the user has it in the chat"),
)
IS_TO_SEND = deliveries.c.status == constant(DeliveryStatus.WAITING)
partial_index("ix_deliveries_to_send", deliveries.c.broadcast_id, deliveries.c.user_id, where=IS_TO_SEND)
IS_CLAIMED_DELIVERY = deliveries.c.status == constant(DeliveryStatus.SENDING)
partial_index("ix_deliveries_claimed", deliveries.c.broadcast_id, where=IS_CLAIMED_DELIVERY)

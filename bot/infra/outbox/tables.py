"""The table of notifications."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    FromClause,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)

from bot.infra.db.columns import OWNER, BigId, Instant, Json, constant, metadata, not_exported, partial_index
from bot.infra.outbox.model import NotificationStatus

outbox = Table(
    "outbox",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("chat_id", BigInteger, nullable=False, info=OWNER),
    Column("subject", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("mark", Text, nullable=False),
    Column("queue", Text, nullable=False),
    Column("payload", Json, nullable=False),
    Column("status", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("maybe_sent", Boolean, nullable=False),
    Column("due_at", Instant, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("message_id", BigInteger),
    Column("sent_at", Instant),
    Column("failure", Text),
    # A change that the bot sees twice is reported once.
    UniqueConstraint("subject", "kind", "mark", "chat_id"),
    # An id isn't used again after its row was deleted, because a late answer must not change another row.
    sqlite_autoincrement=True,
    info=not_exported("the notifications of the last days: the user has them in the chat"),
)


def is_unsent(notification: FromClause) -> ColumnElement[bool]:
    """Return the condition that a notification is waiting or being sent, with literals for the partial indexes."""
    return notification.c.status.in_([constant(NotificationStatus.WAITING), constant(NotificationStatus.SENDING)])


IS_WAITING = outbox.c.status == constant(NotificationStatus.WAITING)
IS_SENDING = outbox.c.status == constant(NotificationStatus.SENDING)
# Few rows are unsent, so the indexes for sending contain only those. The first finds what each queue sends next. The
# second shows whether an earlier row of the chat is unsent.
partial_index("ix_outbox_due", outbox.c.queue, outbox.c.due_at, outbox.c.id, where=is_unsent(outbox))
partial_index("ix_outbox_unsent", outbox.c.chat_id, outbox.c.id, where=is_unsent(outbox))
IS_SENT = outbox.c.sent_at.is_not(None)
IS_UNDELIVERABLE = outbox.c.status == constant(NotificationStatus.UNDELIVERABLE)
partial_index("ix_outbox_sent_at", outbox.c.sent_at, where=IS_SENT)
partial_index("ix_outbox_given_up", outbox.c.created_at, where=IS_UNDELIVERABLE)

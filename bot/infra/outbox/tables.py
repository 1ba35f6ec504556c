"""The table of notifications."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    FromClause,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)

from bot.infra.db.columns import USER, BigId, Instant, Json, constant, not_exported
from bot.infra.db.metadata import metadata
from bot.infra.outbox.model import NotificationStatus

outbox = Table(
    "outbox",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("chat_id", BigInteger, nullable=False, info=USER),
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
    # A change that is seen twice is reported once.
    UniqueConstraint("subject", "kind", "mark", "chat_id"),
    # An id is never given again after its row was forgotten: a late answer must not hit another row.
    sqlite_autoincrement=True,
    info=not_exported("the notifications of the last days: the user has them in the chat"),
)


def is_unsent(notification: FromClause) -> ColumnElement[bool]:
    """The condition of what is neither told nor given up, in so many words."""
    return notification.c.status.in_([constant(NotificationStatus.WAITING), constant(NotificationStatus.SENDING)])


IS_WAITING = outbox.c.status == constant(NotificationStatus.WAITING)
# What is still to tell is a few rows among many told, so the sender's indexes hold only those: one to find what
# is due in the order it fell due, one to see that nothing in the same chat comes before it.
Index(
    "ix_outbox_waiting",
    outbox.c.due_at,
    outbox.c.id,
    sqlite_where=IS_WAITING,
    postgresql_where=IS_WAITING,
)
Index(
    "ix_outbox_unsent",
    outbox.c.chat_id,
    outbox.c.id,
    sqlite_where=is_unsent(outbox),
    postgresql_where=is_unsent(outbox),
)
IS_SENT = outbox.c.sent_at.is_not(None)
IS_GIVEN_UP = outbox.c.status == constant(NotificationStatus.UNDELIVERABLE)
Index("ix_outbox_sent_at", outbox.c.sent_at, sqlite_where=IS_SENT, postgresql_where=IS_SENT)
Index("ix_outbox_given_up", outbox.c.created_at, sqlite_where=IS_GIVEN_UP, postgresql_where=IS_GIVEN_UP)

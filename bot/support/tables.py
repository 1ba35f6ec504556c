"""The tables of tickets, of their entries and messages, of revealed recipients and of saved replies."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, Table, Text, UniqueConstraint

from bot.infra.db.columns import (
    OWNER,
    SEALED,
    STAFF,
    USER,
    Instant,
    Json,
    constant,
    metadata,
    not_exported,
    partial_index,
    pruned,
)
from bot.support.model import TicketStatus

tickets = Table(
    "tickets",
    metadata,
    Column("reference", Text, primary_key=True),
    Column("user_id", BigInteger, nullable=False, info=OWNER),
    Column("order_reference", Text, nullable=False),
    Column("cause", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("version", Integer, nullable=False),
    Column("claimed_by", BigInteger, info=STAFF),
    Column("claimed_at", Instant),
    Column("waiting_since", Instant),
    Column("reminded_at", Instant),
    Column("escalated_at", Instant),
    Column("paused_until", Instant),
    Column("paused_status", Text),
    Column("first_reply_at", Instant),
    Column("closed_at", Instant),
    Column("closed_by", BigInteger, info=STAFF),
    Column("close_reason", Text),
    Column("reopen_count", Integer, nullable=False),
    Column("rating", Text),
    Column("rated_at", Instant),
    Column("has_payee", Boolean, nullable=False),
    Index(None, "user_id", "created_at"),
    Index(None, "order_reference"),
    Index(None, "created_at"),
    Index(None, "closed_at"),
)
IS_OPEN_TICKET = tickets.c.status == constant(TicketStatus.OPEN)
# A user has at most one open ticket about an order, and one about none.
partial_index("uq_tickets_open", tickets.c.user_id, tickets.c.order_reference, where=IS_OPEN_TICKET, unique=True)
partial_index("ix_tickets_open_created_at", tickets.c.created_at, where=IS_OPEN_TICKET)
IS_WAITING_TICKET = tickets.c.waiting_since.is_not(None)
partial_index("ix_tickets_waiting_since", tickets.c.waiting_since, where=IS_WAITING_TICKET)
IS_PAUSED_TICKET = tickets.c.paused_until.is_not(None)
partial_index("ix_tickets_paused_until", tickets.c.paused_until, where=IS_PAUSED_TICKET)

# What was written stays for the retention period after the ticket was closed.
_WRITTEN = pruned(parent="closed_at")

ticket_entries = Table(
    "ticket_entries",
    metadata,
    Column("id", Text, primary_key=True),  # the ticket and the number
    Column(
        "ticket",
        Text,
        ForeignKey("tickets.reference", ondelete="CASCADE"),
        nullable=False,
        info=_WRITTEN,
    ),
    Column("number", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("author_id", BigInteger, nullable=False, info=USER),
    Column("at", Instant, nullable=False),
    Column("text", Text, info=SEALED),
    Column("media", Text),
    Column("file_id", Text, info={**SEALED, **not_exported("Telegram's name of a file that the user has in the chat")}),
    Column("source_chat_id", BigInteger, nullable=False, info=USER),
    Column("source_message_id", BigInteger, nullable=False),
    Column("message_id", BigInteger),
    Column("delivered_at", Instant),
    Column("failure", Text),
    Column("edited_at", Instant),
    Column("withdrawn_at", Instant),
    UniqueConstraint("ticket", "number"),
    # A message is saved once, even if its update is handled again.
    UniqueConstraint("source_chat_id", "source_message_id"),
)

ticket_posts = Table(
    "ticket_posts",
    metadata,
    Column("chat_id", BigInteger, primary_key=True, autoincrement=False, info=USER),
    Column("message_id", BigInteger, primary_key=True, autoincrement=False),
    Column("ticket", Text, ForeignKey("tickets.reference", ondelete="CASCADE"), nullable=False),
    Column("role", Text, nullable=False),
    Column("topic_id", BigInteger),
    Column("entry", Integer, nullable=False),
    Column("argument", Text, nullable=False),
    Column("at", Instant, nullable=False),
    # With fewer columns, SQLite would read all messages of the group to find an entry's newest one.
    Index("ix_ticket_posts_ticket_entry", "ticket", "entry", "chat_id", "message_id"),
    Index(None, "chat_id", "topic_id"),
)


reveals = Table(
    "reveals",
    metadata,
    Column("id", Text, primary_key=True),
    Column("reference", Text, nullable=False),
    Column("staff_id", BigInteger, nullable=False, info=STAFF),
    Column("message_id", BigInteger),
    Column("at", Instant, nullable=False),
    Column("until", Instant, nullable=False),
    Column("masked_at", Instant),
)


IS_REVEALED = reveals.c.masked_at.is_(None)


partial_index("ix_reveals_until", reveals.c.until, where=IS_REVEALED)


saved_replies = Table(
    "saved_replies",
    metadata,
    Column("name", Text, primary_key=True),
    Column("texts", Json, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("updated_by", BigInteger, nullable=False, info=STAFF),
)

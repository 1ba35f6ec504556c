"""The table of payment reminders. It names the saved recipient, so a reminder has no number and ends with it."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, Text

from bot.infra.db.columns import INTERNAL, OWNER, Instant, metadata

payment_reminders = Table(
    "payment_reminders",
    metadata,
    Column("id", Text, primary_key=True, info=INTERNAL),
    Column("user_id", BigInteger, nullable=False, info=OWNER),
    Column("recipient_id", Text, ForeignKey("recipients.id", ondelete="CASCADE"), nullable=False),
    Column("idr", BigInteger, nullable=False),
    Column("day", Text, nullable=False),
    Column("due_at", Instant, nullable=False),
    Column("unanswered", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Index(None, "user_id"),
    Index(None, "recipient_id"),
    Index(None, "due_at"),
)

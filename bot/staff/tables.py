"""The tables of the audit log and of staff's groups."""

from sqlalchemy import BigInteger, Column, Index, Table, Text

from bot.infra.db.columns import SEALED, STAFF, USER, Instant, not_exported, not_pruned
from bot.infra.db.metadata import metadata

audit = Table(
    "audit",
    metadata,
    Column("id", Text, primary_key=True),  # its time and something random: rows are sorted by it
    Column("at", Instant, nullable=False),
    Column("actor_id", BigInteger, nullable=False, info=STAFF),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("user_id", BigInteger, nullable=False, info=USER),
    Column("detail", Text, nullable=False, info=SEALED),
    Index(None, "actor_id", "id"),
    Index(None, "user_id"),
    info={
        **not_exported("what staff did: it belongs to the operator"),
        **not_pruned("what staff did stays; about whom, and what they said about it, is removed with the user"),
    },
)

moved_chats = Table(
    "moved_chats",
    metadata,
    Column("old_id", BigInteger, primary_key=True, autoincrement=False),
    Column("new_id", BigInteger, nullable=False),
)

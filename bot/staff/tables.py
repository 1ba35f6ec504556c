"""What people did, what staff looked at and changed, what was revealed for a minute, and saved answers."""

from sqlalchemy import BigInteger, Column, Index, Table, Text

from bot.infra.db.columns import BigId, Instant, Json
from bot.infra.db.metadata import metadata

person_acts = Table(
    "person_acts",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("person_id", BigInteger, nullable=False),
    Column("reference", Text, nullable=False),
    Column("at", Instant, nullable=False),
    Column("what", Text, nullable=False),
    Index(None, "person_id", "at"),
    Index(None, "at"),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Text, primary_key=True),  # its time and something random: rows are sorted by it
    Column("at", Instant, nullable=False),
    Column("actor_id", BigInteger, nullable=False),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("person_id", BigInteger, nullable=False),
    Column("detail", Text, nullable=False),  # sealed
    Index(None, "actor_id", "id"),
    Index(None, "person_id"),
)

reveals = Table(
    "reveals",
    metadata,
    Column("id", Text, primary_key=True),
    Column("reference", Text, nullable=False),
    Column("staff_id", BigInteger, nullable=False),
    Column("message_id", BigInteger),
    Column("at", Instant, nullable=False),
    Column("until", Instant, nullable=False),
    Column("masked_at", Instant),
)
IS_REVEALED = reveals.c.masked_at.is_(None)
Index("ix_reveals_until", reveals.c.until, sqlite_where=IS_REVEALED, postgresql_where=IS_REVEALED)

saved_answers = Table(
    "saved_answers",
    metadata,
    Column("name", Text, primary_key=True),
    Column("texts", Json, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("updated_by", BigInteger, nullable=False),
)

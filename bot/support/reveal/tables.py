"""The table of revealed recipients."""

from sqlalchemy import BigInteger, Column, Table, Text

from bot.infra.db.columns import STAFF, Instant, partial_index
from bot.infra.db.metadata import metadata

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

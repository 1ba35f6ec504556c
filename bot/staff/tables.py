"""The table of the audit log."""

from sqlalchemy import BigInteger, Column, Index, Table, Text

from bot.infra.db.columns import Instant
from bot.infra.db.metadata import metadata

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

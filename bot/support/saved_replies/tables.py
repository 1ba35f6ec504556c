"""The table of saved replies."""

from sqlalchemy import BigInteger, Column, Table, Text

from bot.infra.db.columns import STAFF, Instant, Json
from bot.infra.db.metadata import metadata

saved_replies = Table(
    "saved_replies",
    metadata,
    Column("name", Text, primary_key=True),
    Column("texts", Json, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("updated_by", BigInteger, nullable=False, info=STAFF),
)

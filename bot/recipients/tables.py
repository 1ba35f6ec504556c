"""The table of saved recipients."""

from sqlalchemy import BigInteger, Column, Index, Table, Text

from bot.infra.db.columns import Instant, Json
from bot.infra.db.metadata import metadata

recipients = Table(
    "recipients",
    metadata,
    Column("id", Text, primary_key=True),
    Column("person_id", BigInteger, nullable=False),
    Column("method", Json, nullable=False),
    Column("number", Text, nullable=False),  # this one and the next two are sealed
    Column("holder", Text),
    Column("label", Text),
    Column("created_at", Instant, nullable=False),
    Column("used_at", Instant, nullable=False),
    Column("payout_seal", Text),  # the sealed digest of whose it is and at which bank (`sealing.DIGESTS`)
    Index(None, "person_id", "used_at"),
    Index(None, "used_at"),
)

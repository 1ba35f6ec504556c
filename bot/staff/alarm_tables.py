"""What operators were told is wrong, until it is over."""

from sqlalchemy import Column, Index, Table, Text

from bot.infra.db.columns import BigId, Instant, Json
from bot.infra.db.metadata import metadata

alarms = Table(
    "alarms",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("facts", Json, nullable=False),
    Column("raised_at", Instant, nullable=False),
    Column("reminded_at", Instant),
    Column("cleared_at", Instant),
    Index(None, "raised_at"),
)
IS_RAISED = alarms.c.cleared_at.is_(None)
# One open alarm of a kind and a subject, whoever raises it.
Index(
    "uq_alarms_raised", alarms.c.kind, alarms.c.subject, unique=True, sqlite_where=IS_RAISED, postgresql_where=IS_RAISED
)

"""Tables of reconciliations and of the times that lists have shown. They hold nothing personal."""

from sqlalchemy import Column, Index, Integer, Table

from bot.infra.db.columns import BigId, Instant, Json, metadata

runs = Table(
    "reconciliations",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("asked_at", Instant, nullable=False),
    Column("listed", Integer, nullable=False),
    Column("counts", Json, nullable=False),
    Column("shown_since", Instant),
    Column("shown_until", Instant),
    Column("next_at", Instant, nullable=False),
    Column("differences", Json, nullable=False),
    Column("pending", Json, nullable=False),
    Index(None, "asked_at"),
)

spans = Table(
    "reconciled_spans",
    metadata,
    Column("since", Instant, primary_key=True),
    Column("until", Instant, nullable=False),
)

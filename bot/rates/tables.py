"""The tables of quotes, subscriptions and alerts."""

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, Table, Text

from bot.infra.db.columns import INTERNAL, OWNER, BigId, ExactDecimal, Instant, metadata, partial_index

quotes = Table(
    "quotes",
    metadata,
    # The service's own time, so that a quote that the service has cached is stored once.
    Column("fetched_at", Instant, primary_key=True),
    Column("btc_idr", ExactDecimal, nullable=False),
    Column("usdc_idr", ExactDecimal),
    Column("source", Text, nullable=False),
)

subscriptions = Table(
    "subscriptions",
    metadata,
    Column(
        "user_id",
        BigId,
        ForeignKey("users.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
        info=OWNER,
    ),
    Column("subscribed_at", Instant, nullable=False),
    Column("daily_minute", Integer),
    Column("next_daily_at", Instant),
    Column("quiet_from", Integer),
    Column("quiet_until", Integer),
)
HAS_DAILY = subscriptions.c.next_daily_at.is_not(None)
partial_index("ix_subscriptions_next_daily_at", subscriptions.c.next_daily_at, where=HAS_DAILY)

rate_alerts = Table(
    "rate_alerts",
    metadata,
    Column("id", Text, primary_key=True, info=INTERNAL),
    Column("user_id", BigId, ForeignKey("users.id", ondelete="CASCADE"), nullable=False, info=OWNER),
    Column("is_above", Boolean, nullable=False),
    Column("threshold", ExactDecimal, nullable=False),
    Column("cooldown_seconds", Integer),
    Column("cooldown_until", Instant),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index(None, "user_id"),
    Index(None, "expires_at"),
)

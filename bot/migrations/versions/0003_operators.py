"""What operators work with: quotes, who wishes to hear of them, broadcasts with their ledger, and alarms."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TIMESTAMP

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

INSTANT = sa.Text().with_variant(TIMESTAMP(timezone=True), "postgresql")
BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
UNDER_WAY = "status IN ('scheduled', 'running', 'paused')"


def upgrade() -> None:
    """Make what is new."""
    op.add_column("people", sa.Column("seen_at", INSTANT))
    _index("ix_people_created_at", "people", ["created_at"])
    _index("ix_orders_created_at_reference", "orders", ["created_at", "reference"])
    _quotes()
    _subscriptions()
    _rate_alerts()
    _broadcasts()
    _deliveries()
    _alarms()


def _index(name: str, table: str, columns: list[str], where: str | None = None, *, unique: bool = False) -> None:
    condition = None if where is None else sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


def _quotes() -> None:
    op.create_table(
        "quotes",
        sa.Column("fetched_at", INSTANT, nullable=False),
        sa.Column("btc_idr", sa.Text, nullable=False),
        sa.Column("usdc_idr", sa.Text),
        sa.Column("source", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("fetched_at", name="pk_quotes"),
    )


def _of_person(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=f"fk_{table}_person_id", ondelete="CASCADE")


def _subscriptions() -> None:
    op.create_table(
        "subscriptions",
        sa.Column("person_id", BIG_ID, nullable=False, autoincrement=False),
        sa.Column("since", INSTANT, nullable=False),
        sa.Column("daily_minute", sa.Integer),
        sa.Column("next_daily_at", INSTANT),
        sa.Column("quiet_from", sa.Integer),
        sa.Column("quiet_until", sa.Integer),
        sa.PrimaryKeyConstraint("person_id", name="pk_subscriptions"),
        _of_person("subscriptions"),
    )
    _index("ix_subscriptions_next_daily_at", "subscriptions", ["next_daily_at"], "next_daily_at IS NOT NULL")


def _rate_alerts() -> None:
    op.create_table(
        "rate_alerts",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("person_id", BIG_ID, nullable=False),
        sa.Column("is_above", sa.Boolean, nullable=False),
        sa.Column("threshold", sa.Text, nullable=False),
        sa.Column("cool_down", sa.Integer),
        sa.Column("rests_until", INSTANT),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_rate_alerts"),
        _of_person("rate_alerts"),
    )
    _index("ix_rate_alerts_person_id", "rate_alerts", ["person_id"])
    _index("ix_rate_alerts_expires_at", "rate_alerts", ["expires_at"])


def _broadcasts() -> None:
    op.create_table(
        "broadcasts",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("operator_id", sa.BigInteger, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("is_rate", sa.Boolean, nullable=False),
        sa.Column("texts", sa.Text, nullable=False),
        sa.Column("picture", sa.Text),
        sa.Column("audience", sa.Text, nullable=False),
        sa.Column("quote", sa.Text),
        sa.Column("starts_at", INSTANT),
        sa.Column("daily_minute", sa.Integer),
        sa.Column("series", sa.Text),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("confirmed_at", INSTANT),
        sa.Column("confirmed_by", sa.BigInteger),
        sa.Column("started_at", INSTANT),
        sa.Column("ended_at", INSTANT),
        sa.Column("chat_id", sa.BigInteger),
        sa.Column("message_id", sa.BigInteger),
        sa.Column("report", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_broadcasts"),
    )
    _index("ix_broadcasts_created_at", "broadcasts", ["created_at"])
    _index("ix_broadcasts_under_way", "broadcasts", ["starts_at"], UNDER_WAY)


def _deliveries() -> None:
    op.create_table(
        "deliveries",
        sa.Column("broadcast_id", sa.Text, nullable=False),
        sa.Column("person_id", BIG_ID, nullable=False, autoincrement=False),
        sa.Column("locale", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("at", INSTANT),
        sa.Column("failure", sa.Text),
        sa.PrimaryKeyConstraint("broadcast_id", "person_id", name="pk_deliveries"),
        sa.ForeignKeyConstraint(
            ["broadcast_id"], ["broadcasts.id"], name="fk_deliveries_broadcast_id", ondelete="CASCADE"
        ),
    )
    _index("ix_deliveries_person_id", "deliveries", ["person_id"])
    _index("ix_deliveries_to_send", "deliveries", ["broadcast_id", "person_id"], "status = 'waiting'")
    _index("ix_deliveries_claimed", "deliveries", ["broadcast_id"], "status = 'sending'")


def _alarms() -> None:
    op.create_table(
        "alarms",
        sa.Column("id", BIG_ID, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("facts", sa.Text, nullable=False),
        sa.Column("raised_at", INSTANT, nullable=False),
        sa.Column("reminded_at", INSTANT),
        sa.Column("cleared_at", INSTANT),
        sa.PrimaryKeyConstraint("id", name="pk_alarms"),
    )
    _index("ix_alarms_raised_at", "alarms", ["raised_at"])
    _index("uq_alarms_raised", "alarms", ["kind", "subject"], "cleared_at IS NULL", unique=True)

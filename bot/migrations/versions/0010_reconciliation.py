"""Reconciliations with the service's list, and the times that lists have shown.

A program of the version before doesn't know the tables, and leaves them as they are.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TIMESTAMP

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

INSTANT = sa.Text().with_variant(TIMESTAMP(timezone=True), "postgresql")
BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
IS_PAID = sa.text("paid_at IS NOT NULL")


def upgrade() -> None:
    """Add the tables, and the index of paid orders for the books."""
    op.create_index(
        "ix_orders_paid_at", "orders", ["paid_at", "reference"], sqlite_where=IS_PAID, postgresql_where=IS_PAID
    )
    op.create_table(
        "reconciliations",
        sa.Column("id", BIG_ID, nullable=False),
        sa.Column("asked_at", INSTANT, nullable=False),
        sa.Column("listed", sa.Integer, nullable=False),
        sa.Column("counts", sa.Text, nullable=False),
        sa.Column("shown_since", INSTANT),
        sa.Column("shown_until", INSTANT),
        sa.Column("next_at", INSTANT, nullable=False),
        sa.Column("differences", sa.Text, nullable=False),
        sa.Column("pending", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_reconciliations"),
    )
    op.create_index("ix_reconciliations_asked_at", "reconciliations", ["asked_at"])
    op.create_table(
        "reconciled_spans",
        sa.Column("since", INSTANT, nullable=False),
        sa.Column("until", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("since", name="pk_reconciled_spans"),
    )

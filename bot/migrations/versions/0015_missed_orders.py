"""All orders about which a user missed a message, not only the last one."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

from bot.infra.db.columns import Instant

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table, move each user's one order there, and drop its old column."""
    missed_orders = op.create_table(
        "missed_orders",
        sa.Column("person_id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("person_id", "reference", name=op.f("pk_missed_orders")),
    )
    op.create_index(op.f("ix_missed_orders_at"), "missed_orders", ["at"])
    people = sa.table("people", sa.column("id", sa.BigInteger), sa.column("missed", sa.Text))
    # When it was refused wasn't kept.
    now = sa.literal(datetime.now(UTC), Instant())
    kept = sa.select(people.c.id, people.c.missed, now).where(people.c.missed.is_not(None))
    op.execute(missed_orders.insert().from_select(["person_id", "reference", "at"], kept))
    op.drop_column("people", "missed")

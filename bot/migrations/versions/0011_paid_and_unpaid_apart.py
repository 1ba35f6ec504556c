"""Due orders are read by class: paid and unpaid ones have places of their own in the request budget."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Put the class first in the index."""
    is_followed = sa.text("next_look_at IS NOT NULL")
    op.drop_index("ix_orders_due", table_name="orders")
    op.create_index(
        "ix_orders_due",
        "orders",
        ["is_paid", "next_look_at"],
        sqlite_where=is_followed,
        postgresql_where=is_followed,
    )

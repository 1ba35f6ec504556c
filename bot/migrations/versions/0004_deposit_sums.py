"""What a user asked for, where the service is asked for another sum, and indexes of the sums that are taken.

A deposit is ordered in sats, and each sum that can still be paid belongs to one order.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column and the indexes."""
    false = "0" if op.get_bind().dialect.name == "sqlite" else "false"
    may_be_deposited = f"channel != 'lightning' AND is_paid IS {false} AND ended_at IS NULL AND phase != 'refused'"
    op.add_column("orders", sa.Column("typed_amount", sa.Text))
    _index("ix_orders_deposit_sats", "sats", may_be_deposited)
    _index("ix_orders_deposit_expected_sats", "expected_sats", f"{may_be_deposited} AND sats IS NULL")


def _index(name: str, column: str, where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, "orders", ["channel", column], sqlite_where=condition, postgresql_where=condition)

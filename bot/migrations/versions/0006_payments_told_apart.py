"""What tells two payments apart, and why a sender is asked before an invoice is shown."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns and their indexes."""
    for name in ("deposit_key", "payment_hash", "hold"):
        op.add_column("orders", sa.Column(name, sa.Text))
    _index("ix_orders_deposit_key", "orders", ["deposit_key"], "deposit_key IS NOT NULL")
    _index("uq_orders_payment_hash", "orders", ["payment_hash"], "payment_hash IS NOT NULL", unique=True)


def _index(name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=condition, postgresql_where=condition)

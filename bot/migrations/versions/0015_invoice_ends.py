"""When an invoice itself ends, if a wallet can pay it for longer than we show it.

A program of the version before leaves the column as it is, and follows such an order until the time that is shown.
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. It is empty for deposits, and for the orders that exist, whose invoice is shown to its end."""
    instant = sa.Text().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
    op.add_column("orders", sa.Column("invoice_expires_at", instant))

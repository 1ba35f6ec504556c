"""What the service has reported about an order besides its state, sealed, as evidence.

A program of the version before leaves the column as it is. It adds nothing to it, so what only such a program sees is
missing until the order is read again.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. It is empty for orders without evidence."""
    op.add_column("orders", sa.Column("evidence", sa.Text))

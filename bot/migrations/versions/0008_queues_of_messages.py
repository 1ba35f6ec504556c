"""Which queue a message waits in, and which order a user has missed a message about."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; what is waiting goes to the queue that it was in."""
    op.add_column("people", sa.Column("missed", sa.Text))
    op.add_column("outbox", sa.Column("queue", sa.Text, nullable=False, server_default="money"))
    op.execute("UPDATE outbox SET queue = 'rate' WHERE subject LIKE 'rate:%'")

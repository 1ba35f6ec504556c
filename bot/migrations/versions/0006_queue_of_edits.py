"""A queue of their own for edits and removals of messages, so that no message about money waits for them.

A program of the version before goes on with these rows as extras. Rows that it adds to the queue of money stay there
until an attempt fails.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("outbox", sa.Column("is_edit", sa.Boolean, nullable=False, server_default=sa.false()))

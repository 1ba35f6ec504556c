"""The phrase that was suggested to a user, so that it is the one on their first invoice."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("people", sa.Column("suggestion", sa.Text))

"""Which updates have been taken in: ids say nothing of that, for Telegram may begin them again."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("inbox", sa.Column("taken_by", sa.Text))

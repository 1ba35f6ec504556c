"""From which bot and server an update comes, because ids of others can't be compared with its own."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. It is empty for updates that the version before receives."""
    op.add_column("inbox", sa.Column("source", sa.Text))

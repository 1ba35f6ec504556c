"""Why an answer to a draft's question was refused last, for support.

A program of the version before leaves the column as it is. So the refusal has its question and its time.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. It is empty until an answer is refused."""
    op.add_column("drafts", sa.Column("refusal", sa.Text))

"""Payment requests: a seal of what decides whether one can be paid.

Requests from before have none, and nobody can say whether they were changed. So their links can't be paid, and their
askers make new ones.
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, and close the requests that have no seal."""
    op.add_column("payment_requests", sa.Column("terms_seal", sa.Text))
    op.execute("UPDATE payment_requests SET status = 'closed', closed_by = 'operator' WHERE status <> 'closed'")

"""Why payers report a request, and whether an operator has looked since.

A program of the version before notifies operators of the first report about each request, and lists open ones.
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns. Operators were notified of all reports of before, so the next one about an asker is new."""
    op.add_column(
        "payment_request_reports", sa.Column("reason", sa.Text, nullable=False, server_default=sa.text("'other'"))
    )
    op.add_column(
        "payment_request_reports", sa.Column("is_seen", sa.Boolean, nullable=False, server_default=sa.false())
    )
    op.execute(sa.update(sa.table("payment_request_reports", sa.column("is_seen"))).values(is_seen=sa.true()))

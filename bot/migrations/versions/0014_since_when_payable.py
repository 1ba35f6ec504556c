"""Since when an order can be paid: one whose price was accepted hours later is followed from then on."""

import sqlalchemy as sa
from alembic import op

from bot.infra.db.columns import Instant

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. Without a time, an order counts as payable since it was created, as before."""
    op.add_column("orders", sa.Column("payable_since", Instant))

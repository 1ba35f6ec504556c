"""Which encryption keys each process knows, so that none seals what another can't read."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TIMESTAMP

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

INSTANT = sa.Text().with_variant(TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "processes",
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("key_names", sa.Text, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("owner", name="pk_processes"),
    )

"""How many wrong codes of receipts users may still type, so that all processes count them together."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TIMESTAMP

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
INSTANT = sa.Text().with_variant(TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "wrong_codes",
        sa.Column("user_id", BIG_ID, autoincrement=False, nullable=False),
        sa.Column("full_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("user_id", name="pk_wrong_codes"),
    )
    op.create_index("ix_wrong_codes_full_at", "wrong_codes", ["full_at"])

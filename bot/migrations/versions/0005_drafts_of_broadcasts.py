"""An index that finds the open draft of an operator, among however many broadcasts."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

IS_DRAFT = sa.text("status = 'draft'")


def upgrade() -> None:
    """Add the index."""
    op.create_index(
        "ix_broadcasts_drafts",
        "broadcasts",
        ["operator_id", "created_at"],
        sqlite_where=IS_DRAFT,
        postgresql_where=IS_DRAFT,
    )

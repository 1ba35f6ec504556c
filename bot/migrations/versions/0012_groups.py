"""The language of a group, such as that of support.

A program of the version before doesn't know the table, and writes to groups in the default language.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table. It is empty until support chooses a language for its group."""
    op.create_table(
        "groups",
        sa.Column("chat_id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("locale", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("chat_id", name="pk_groups"),
    )

"""Who pays an order if they have no chat, and the link that an order was made from.

A program of the version before leaves the columns as they are. It can't open an order that has a value in them, because
the order's seal covers them. It follows such an order all the same, and shows it to nobody.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

IS_OF_PAGE = sa.text("payer_hash IS NOT NULL")
IS_FROM_LINK = sa.text("origin IS NOT NULL")


def upgrade() -> None:
    """Add the columns. They are empty in all orders of before, whose payers are users in their chats."""
    op.add_column("orders", sa.Column("payer_hash", sa.Text))
    op.add_column("orders", sa.Column("origin", sa.Text))
    for name, columns, condition in (
        ("ix_orders_payer_hash_created_at", ["payer_hash", "created_at"], IS_OF_PAGE),
        ("ix_orders_origin_created_at", ["origin", "created_at"], IS_FROM_LINK),
        ("ix_orders_from_links_created_at", ["created_at", "origin"], IS_FROM_LINK),
    ):
        op.create_index(name, "orders", columns, sqlite_where=condition, postgresql_where=condition)

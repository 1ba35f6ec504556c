"""Payment requests: their tables, what drafts of them say, who pays an order without a chat, and the order's link.

A program of the version before leaves the columns of orders as they are. It can't open an order that has a value in
them, because the order's seal covers them. It follows such an order all the same, and shows it to nobody. It leaves
drafts of requests to others, because their steps have names that it doesn't know.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TIMESTAMP

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

INSTANT = sa.Text().with_variant(TIMESTAMP(timezone=True), "postgresql")
BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
IS_OF_PAGE = sa.text("payer_hash IS NOT NULL")
IS_FROM_LINK = sa.text("origin IS NOT NULL")


def upgrade() -> None:
    """Add the tables and the columns. They are empty in all orders of before, whose payers are users in their chats."""
    op.add_column("orders", sa.Column("payer_hash", sa.Text))
    op.add_column("orders", sa.Column("origin", sa.Text))
    for name, columns, condition in (
        ("ix_orders_payer_hash_created_at", ["payer_hash", "created_at"], IS_OF_PAGE),
        ("ix_orders_origin_created_at", ["origin", "created_at"], IS_FROM_LINK),
        ("ix_orders_from_links_created_at", ["created_at", "origin"], IS_FROM_LINK),
    ):
        op.create_index(name, "orders", columns, sqlite_where=condition, postgresql_where=condition)
    op.add_column("drafts", sa.Column("terms", sa.Text))
    op.create_table(
        "payment_requests",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("token_hash", sa.Text, nullable=False),
        sa.Column("token", sa.Text, nullable=False),
        sa.Column("method", sa.Text, nullable=False),
        sa.Column("number", sa.Text, nullable=False),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("idr", sa.BigInteger),
        sa.Column("note", sa.Text),
        sa.Column("is_reusable", sa.Boolean, nullable=False),
        sa.Column("ends_at", INSTANT),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("closed_by", sa.Text),
        sa.Column("draft_id", sa.Text, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("used_at", INSTANT, nullable=False),
        sa.Column("payout_seal", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_payment_requests"),
    )
    op.create_index("uq_payment_requests_token_hash", "payment_requests", ["token_hash"], unique=True)
    op.create_index("uq_payment_requests_draft_id", "payment_requests", ["draft_id"], unique=True)
    op.create_index("ix_payment_requests_user_id_created_at", "payment_requests", ["user_id", "created_at"])
    op.create_index("ix_payment_requests_used_at", "payment_requests", ["used_at"])
    op.create_table(
        "payment_request_reports",
        sa.Column("id", BIG_ID, nullable=False),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_payment_request_reports"),
        sa.ForeignKeyConstraint(
            ["request_id"],
            ["payment_requests.id"],
            name="fk_payment_request_reports_request_id",
            ondelete="CASCADE",
        ),
    )
    op.create_index(
        "uq_payment_request_reports_request_id_user_id",
        "payment_request_reports",
        ["request_id", "user_id"],
        unique=True,
    )
    op.create_index("ix_payment_request_reports_user_id", "payment_request_reports", ["user_id"])
    op.create_index("ix_payment_request_reports_at", "payment_request_reports", ["at"])

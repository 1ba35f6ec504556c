"""Several processes on one database: leases of chats and of the leader, jobs, and the end of a request for an order.

It also adds the list of programs that can use the tables. Later migrations only add to the tables, so that an older
program goes on beside a newer one while they are replaced one by one.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TIMESTAMP

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
INSTANT = sa.Text().with_variant(TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Add the tables, the column, and the index of notifications that are being sent."""
    op.create_table("compatible_revisions", sa.Column("revision", sa.Text, primary_key=True))
    op.create_table(
        "chat_leases",
        sa.Column("chat_id", BIG_ID, autoincrement=False, nullable=False),
        *_lease_columns(),
        sa.PrimaryKeyConstraint("chat_id", name="pk_chat_leases"),
    )
    op.create_table(
        "leader_lease",
        sa.Column("id", sa.Integer, autoincrement=False, nullable=False),
        *_lease_columns(),
        sa.PrimaryKeyConstraint("id", name="pk_leader_lease"),
    )
    op.create_table(
        "jobs",
        sa.Column("id", BIG_ID, nullable=False),
        sa.Column("chat_id", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("argument", sa.Text, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("attempts", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
        sa.UniqueConstraint("chat_id", "kind", "argument", name="uq_jobs_chat_id_kind_argument"),
    )
    op.add_column("orders", sa.Column("posting_until", INSTANT))
    is_sending = sa.text("status = 'sending'")
    op.create_index("ix_outbox_sending", "outbox", ["id"], sqlite_where=is_sending, postgresql_where=is_sending)


def _lease_columns() -> list[sa.Column[object]]:
    return [
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
    ]

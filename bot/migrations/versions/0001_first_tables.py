"""People, inbox, drafts, orders and their events, outbox. `bot/tables.py` names them all.

A migration is frozen: it names its own types, and never imports the tables, which go on changing.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TIMESTAMP

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
INSTANT = sa.Text().with_variant(TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Create them all."""
    _people_and_inbox()
    _drafts()
    _orders()
    _order_indexes()
    _order_events()
    _outbox()


def _index(name: str, table: str, columns: list[str], where: str | None = None, *, unique: bool = False) -> None:
    condition = None if where is None else sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


def _people_and_inbox() -> None:
    op.create_table(
        "people",
        sa.Column("id", BIG_ID, autoincrement=False, nullable=False),
        sa.Column("language_code", sa.Text),
        sa.Column("locale", sa.Text),
        sa.Column("time_zone", sa.Text, nullable=False),
        sa.Column("blocked_at", INSTANT),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_people"),
    )
    op.create_table(
        "inbox",
        sa.Column("update_id", BIG_ID, autoincrement=False, nullable=False),
        sa.Column("chat_id", sa.BigInteger, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("received_at", INSTANT, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("finished_at", INSTANT),
        sa.PrimaryKeyConstraint("update_id", name="pk_inbox"),
    )
    _index("ix_inbox_unfinished", "inbox", ["chat_id", "update_id"], "finished_at IS NULL")
    _index("ix_inbox_finished_at", "inbox", ["finished_at"], "finished_at IS NOT NULL")


def _drafts() -> None:
    op.create_table(
        "drafts",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("chat_id", sa.BigInteger, nullable=False),
        sa.Column("person_id", sa.BigInteger, nullable=False),
        sa.Column("ask", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("method", sa.Text),
        sa.Column("number", sa.Text),
        sa.Column("doubtful_number", sa.Text),
        sa.Column("holder", sa.Text),
        sa.Column("holder_asked", sa.Boolean, nullable=False),
        sa.Column("amount", sa.Text),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("quote", sa.Text),
        sa.Column("message_id", sa.BigInteger),
        sa.Column("last_update_id", sa.BigInteger, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_drafts"),
    )
    _index("uq_drafts_open_chat", "drafts", ["chat_id"], "status = 'open'", unique=True)
    _index("ix_drafts_open_expires_at", "drafts", ["expires_at"], "status = 'open'")


def _orders() -> None:
    op.create_table(
        "orders",
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("person_id", sa.BigInteger, nullable=False),
        sa.Column("chat_id", sa.BigInteger, nullable=False),
        sa.Column("draft_id", sa.Text, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("method", sa.Text, nullable=False),
        sa.Column("method_code", sa.Text, nullable=False),
        sa.Column("number", sa.Text, nullable=False),
        sa.Column("holder", sa.Text),
        sa.Column("given", sa.Text, nullable=False),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("expected_sats", sa.BigInteger, nullable=False),
        sa.Column("expected_idr", sa.BigInteger, nullable=False),
        sa.Column("phase", sa.Text, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("service_id", sa.Text),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("step", sa.Integer, nullable=False),
        sa.Column("sats", sa.BigInteger),
        sa.Column("idr", sa.BigInteger),
        sa.Column("btc_idr", sa.Text),
        sa.Column("bolt11", sa.Text),
        sa.Column("deposit", sa.Text),
        sa.Column("expires_at", INSTANT),
        sa.Column("paid_at", INSTANT),
        sa.Column("is_paid", sa.Boolean, nullable=False),
        sa.Column("ended_at", INSTANT),
        sa.Column("expiry_told", sa.Boolean, nullable=False),
        sa.Column("refusal", sa.Text),
        sa.Column("looked_at", INSTANT),
        sa.Column("next_look_at", INSTANT),
        sa.PrimaryKeyConstraint("reference", name="pk_orders"),
        sa.UniqueConstraint("draft_id", "attempt", name="uq_orders_draft_id_attempt"),
    )


def _order_indexes() -> None:
    false = "0" if op.get_bind().dialect.name == "sqlite" else "false"
    may_expire = f"phase = 'open' AND expiry_told IS {false} AND is_paid IS {false}"
    _index("uq_orders_service_id", "orders", ["service_id"], "service_id IS NOT NULL", unique=True)
    _index("ix_orders_due", "orders", ["next_look_at"], "next_look_at IS NOT NULL")
    _index("ix_orders_unclaimed", "orders", ["method_code", "created_at"], "service_id IS NULL")
    _index("ix_orders_expiring", "orders", ["phase", "expires_at"], may_expire)
    _index("ix_orders_person_id_created_at", "orders", ["person_id", "created_at"])
    _index("ix_orders_phase_created_at", "orders", ["phase", "created_at"])


def _order_events() -> None:
    op.create_table(
        "order_events",
        sa.Column("id", BIG_ID, nullable=False),
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("phase", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_order_events"),
        sa.ForeignKeyConstraint(
            ["reference"], ["orders.reference"], name="fk_order_events_reference", ondelete="CASCADE"
        ),
    )
    _index("ix_order_events_reference_id", "order_events", ["reference", "id"])


def _outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", BIG_ID, nullable=False),
        sa.Column("chat_id", sa.BigInteger, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("maybe_told", sa.Boolean, nullable=False),
        sa.Column("due_at", INSTANT, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("message_id", sa.BigInteger),
        sa.Column("told_at", INSTANT),
        sa.Column("failure", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
        sa.UniqueConstraint("subject", "kind", "chat_id", name="uq_outbox_subject_kind_chat_id"),
        sqlite_autoincrement=True,
    )
    _index("ix_outbox_waiting", "outbox", ["due_at", "id"], "status = 'waiting'")
    _index("ix_outbox_to_tell", "outbox", ["chat_id", "id"], "status IN ('waiting', 'sending')")
    _index("ix_outbox_told_at", "outbox", ["told_at"], "told_at IS NOT NULL")
    _index("ix_outbox_given_up", "outbox", ["created_at"], "status = 'undeliverable'")

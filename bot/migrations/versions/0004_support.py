"""What support works with: tickets and what was written in them, what people did, the audit trail, reveals."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TIMESTAMP

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

INSTANT = sa.Text().with_variant(TIMESTAMP(timezone=True), "postgresql")
BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make what is new."""
    op.add_column("people", sa.Column("username", sa.Text))
    _index("ix_people_username", "people", ["username"], "username IS NOT NULL")
    op.add_column("order_events", sa.Column("service_at", INSTANT))
    _orders()
    _tickets()
    _ticket_entries()
    _ticket_posts()
    _person_acts()
    _audit()
    _reveals()
    _saved_answers()


def _index(name: str, table: str, columns: list[str], where: str | None = None, *, unique: bool = False) -> None:
    condition = None if where is None else sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


def _orders() -> None:
    """What support finds orders by; and the index beside it, so that SQLite still prefers it for what it is for."""
    _index("ix_orders_method_code_created_at", "orders", ["method_code", "created_at", "reference"])
    op.drop_index("ix_orders_unclaimed", "orders")
    _index("ix_orders_unclaimed", "orders", ["method_code", "created_at", "reference"], "service_id IS NULL")


def _tickets() -> None:
    op.create_table(
        "tickets",
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("person_id", sa.BigInteger, nullable=False),
        sa.Column("order_reference", sa.Text, nullable=False),
        sa.Column("cause", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("claimed_by", sa.BigInteger),
        sa.Column("claimed_at", INSTANT),
        sa.Column("waits_since", INSTANT),
        sa.Column("reminded_at", INSTANT),
        sa.Column("escalated_at", INSTANT),
        sa.Column("first_answer_at", INSTANT),
        sa.Column("closed_at", INSTANT),
        sa.Column("closed_by", sa.BigInteger),
        sa.Column("close_reason", sa.Text),
        sa.Column("reopened", sa.Integer, nullable=False),
        sa.Column("rating", sa.Text),
        sa.Column("rated_at", INSTANT),
        sa.PrimaryKeyConstraint("reference", name="pk_tickets"),
    )
    _index("ix_tickets_person_id_created_at", "tickets", ["person_id", "created_at"])
    _index("ix_tickets_order_reference", "tickets", ["order_reference"])
    _index("ix_tickets_created_at", "tickets", ["created_at"])
    _index("ix_tickets_closed_at", "tickets", ["closed_at"])
    _index("uq_tickets_open", "tickets", ["person_id", "order_reference"], "status = 'open'", unique=True)
    _index("ix_tickets_open_created_at", "tickets", ["created_at"], "status = 'open'")
    _index("ix_tickets_waits_since", "tickets", ["waits_since"], "waits_since IS NOT NULL")


def _of_ticket(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["ticket"], ["tickets.reference"], name=f"fk_{table}_ticket", ondelete="CASCADE")


def _ticket_entries() -> None:
    op.create_table(
        "ticket_entries",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("ticket", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("author_id", sa.BigInteger, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("text", sa.Text),
        sa.Column("media", sa.Text),
        sa.Column("file_id", sa.Text),
        sa.Column("source_chat_id", sa.BigInteger, nullable=False),
        sa.Column("source_message_id", sa.BigInteger, nullable=False),
        sa.Column("message_id", sa.BigInteger),
        sa.Column("delivered_at", INSTANT),
        sa.Column("failure", sa.Text),
        sa.Column("edited_at", INSTANT),
        sa.Column("withdrawn_at", INSTANT),
        sa.PrimaryKeyConstraint("id", name="pk_ticket_entries"),
        sa.UniqueConstraint("ticket", "number", name="uq_ticket_entries_ticket_number"),
        sa.UniqueConstraint(
            "source_chat_id", "source_message_id", name="uq_ticket_entries_source_chat_id_source_message_id"
        ),
        _of_ticket("ticket_entries"),
    )


def _ticket_posts() -> None:
    op.create_table(
        "ticket_posts",
        sa.Column("chat_id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("message_id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("ticket", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("topic_id", sa.BigInteger),
        sa.Column("entry", sa.Integer, nullable=False),
        sa.Column("argument", sa.Text, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("chat_id", "message_id", name="pk_ticket_posts"),
        _of_ticket("ticket_posts"),
    )
    _index("ix_ticket_posts_ticket_entry", "ticket_posts", ["ticket", "entry", "chat_id", "message_id"])
    _index("ix_ticket_posts_chat_id_topic_id", "ticket_posts", ["chat_id", "topic_id"])
    op.create_table(
        "moved_chats",
        sa.Column("old_id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("new_id", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("old_id", name="pk_moved_chats"),
    )


def _person_acts() -> None:
    op.create_table(
        "person_acts",
        sa.Column("id", BIG_ID, nullable=False),
        sa.Column("person_id", sa.BigInteger, nullable=False),
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("what", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_person_acts"),
    )
    _index("ix_person_acts_person_id_at", "person_acts", ["person_id", "at"])
    _index("ix_person_acts_at", "person_acts", ["at"])


def _audit() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("actor_id", sa.BigInteger, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("person_id", sa.BigInteger, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    _index("ix_audit_actor_id_id", "audit", ["actor_id", "id"])
    _index("ix_audit_person_id", "audit", ["person_id"])


def _reveals() -> None:
    op.create_table(
        "reveals",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("staff_id", sa.BigInteger, nullable=False),
        sa.Column("message_id", sa.BigInteger),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("until", INSTANT, nullable=False),
        sa.Column("masked_at", INSTANT),
        sa.PrimaryKeyConstraint("id", name="pk_reveals"),
    )
    _index("ix_reveals_until", "reveals", ["until"], "masked_at IS NULL")


def _saved_answers() -> None:
    op.create_table(
        "saved_answers",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("texts", sa.Text, nullable=False),
        sa.Column("updated_at", INSTANT, nullable=False),
        sa.Column("updated_by", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_saved_answers"),
    )

"""Recipients, receipts, wallet pages and what people chose; numbers and names are sealed from here on.

What an older program has left readable is sealed in the same transaction.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import context, op
from sqlalchemy.dialects.postgresql import TIMESTAMP

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

INSTANT = sa.Text().with_variant(TIMESTAMP(timezone=True), "postgresql")
AT_ONCE = 1000

READABLE = (
    ("inbox", "update_id", ("body",)),
    ("drafts", "id", ("number", "doubtful_number", "holder")),
    ("orders", "reference", ("number", "holder", "refusal")),
)
"""Table, key, and the columns that were readable until now."""


def upgrade() -> None:
    """Make what is new, and seal what is there."""
    _people()
    _orders()
    _recipients()
    _receipts()
    _sealing_keys()
    _sweeping()
    for table, key, columns in READABLE:
        _seal(table, key, columns)
    if not context.config.attributes["is_new"] and op.get_bind().dialect.name == "sqlite":
        # Old pages still hold what was readable; `bot/infra/db/erasing.py` writes the file anew after the commit.
        op.execute("PRAGMA user_version = 1")


def _index(name: str, table: str, columns: list[str], where: str | None = None, *, unique: bool = False) -> None:
    condition = None if where is None else sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


def _people() -> None:
    op.add_column("people", sa.Column("phrase", sa.Text))
    op.add_column("people", sa.Column("notices", sa.Text))
    op.add_column("people", sa.Column("awaits", sa.Text))
    op.add_column("people", sa.Column("answered_update_id", sa.BigInteger))
    op.add_column("people", sa.Column("delete_asked_at", INSTANT))
    _index("ix_people_leaving", "people", ["delete_asked_at"], "delete_asked_at IS NOT NULL")


def _orders() -> None:
    op.add_column("orders", sa.Column("page_token", sa.Text))
    op.add_column("orders", sa.Column("stuck_told_at", INSTANT))
    true = "1" if op.get_bind().dialect.name == "sqlite" else "true"
    may_be_stuck = f"phase = 'open' AND is_paid IS {true} AND stuck_told_at IS NULL"
    _index("uq_orders_page_token", "orders", ["page_token"], "page_token IS NOT NULL", unique=True)
    _index("ix_orders_stuck", "orders", ["phase", "paid_at"], may_be_stuck)


def _recipients() -> None:
    op.create_table(
        "recipients",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("person_id", sa.BigInteger, nullable=False),
        sa.Column("method", sa.Text, nullable=False),
        sa.Column("number", sa.Text, nullable=False),
        sa.Column("holder", sa.Text),
        sa.Column("label", sa.Text),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("used_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_recipients"),
    )
    _index("ix_recipients_person_id_used_at", "recipients", ["person_id", "used_at"])
    _index("ix_recipients_used_at", "recipients", ["used_at"])


def _receipts() -> None:
    op.create_table(
        "receipts",
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("code_hash", sa.Text, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("reference", name="pk_receipts"),
        sa.ForeignKeyConstraint(["reference"], ["orders.reference"], name="fk_receipts_reference", ondelete="CASCADE"),
        sa.UniqueConstraint("code_hash", name="uq_receipts_code_hash"),
    )


def _sealing_keys() -> None:
    keys = op.create_table(
        "sealing_keys",
        sa.Column("name", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_sealing_keys"),
    )
    first = context.config.attributes["vault"].first
    if first and not context.config.attributes["is_new"]:
        # From here on the database can only be used with the key that its rows are sealed with.
        op.bulk_insert(keys, [{"name": first}])


def _sweeping() -> None:
    _index("ix_people_blocked_at", "people", ["blocked_at"], "blocked_at IS NOT NULL")
    _index("ix_drafts_closed_expires_at", "drafts", ["expires_at"], "status != 'open'")
    _index("ix_drafts_person_id", "drafts", ["person_id"])
    _index("ix_orders_with_recipient", "orders", ["phase", "created_at"], "number != ''")
    _index("ix_outbox_farewells", "outbox", ["id"], "kind = 'farewell'")


def _seal(table: str, key: str, columns: Sequence[str]) -> None:
    vault, connection = context.config.attributes["vault"], op.get_bind()
    rows = sa.table(table, sa.column(key), *(sa.column(column) for column in columns))
    last: object = None
    while True:
        some = sa.select(rows).order_by(rows.c[key]).limit(AT_ONCE)
        found = connection.execute(some if last is None else some.where(rows.c[key] > last)).mappings().all()
        for row in found:
            sealed = {c: vault.seal(row[c], f"{table}.{c}:{row[key]}") for c in columns if row[c]}
            if sealed:
                connection.execute(sa.update(rows).where(rows.c[key] == row[key]).values(sealed))
        if len(found) < AT_ONCE:
            return
        last = found[-1][key]

"""A sealed digest of what an order is paid with, so that nobody who can write a row can redirect a payment.

The orders that are there get theirs in the same transaction: from here on an order without one doesn't open.
"""

import hashlib
import json

import sqlalchemy as sa
from alembic import context, op

from bot.migrations.keys import note_key

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

AT_ONCE = 1000
COVERED = ("person_id", "chat_id", "page_token", "method", "channel", "sats", "bolt11", "deposit")
JSON = ("method", "deposit")
ROWS = sa.table("orders", *(sa.column(name) for name in ("reference", "number", "payment_seal", *COVERED)))
TO_SEAL = sa.select(ROWS).where(sa.or_(ROWS.c.number != "", ROWS.c.bolt11.is_not(None), ROWS.c.deposit.is_not(None)))
SEAL = sa.update(ROWS).where(ROWS.c.reference == sa.bindparam("key")).values(payment_seal=sa.bindparam("seal"))


def upgrade() -> None:
    """Add the column, and seal what is there."""
    op.add_column("orders", sa.Column("payment_seal", sa.Text))
    if context.config.attributes["is_new"]:
        return
    last = ""
    while found := _next(last):
        if not last:
            note_key()
        op.get_bind().execute(SEAL, [{"key": row["reference"], "seal": _sealed(row)} for row in found])
        last = found[-1]["reference"]


def _next(last: str) -> list[sa.RowMapping]:
    some = TO_SEAL.where(ROWS.c.reference > last).order_by(ROWS.c.reference).limit(AT_ONCE)
    return list(op.get_bind().execute(some).mappings())


def _sealed(row: sa.RowMapping) -> str:
    covered = {name: row[name] and json.loads(row[name]) if name in JSON else row[name] for name in COVERED}
    written = json.dumps(covered, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(written.encode()).hexdigest()
    sealed: str = context.config.attributes["vault"].seal(digest, f"orders.payment_seal:{row['reference']}")
    return sealed

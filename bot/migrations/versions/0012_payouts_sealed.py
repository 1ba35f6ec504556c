"""Sealed digests of what is reviewed and of who was sent to, so that nobody who can write a row can redirect a payout.

The rows that are there get theirs in the same transaction: from here on one without a digest can't be read.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from alembic import context, op

from bot.infra.db.errors import BrokenSeal
from bot.migrations.keys import note_key

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

AT_ONCE = 1000
OWNER = ("person_id",)
ANSWERS = ("number", "doubtful_number", "holder")


@dataclass(frozen=True)
class Covered:
    """A table, what its digest covers (as it is, sealed, and as JSON), and whether an empty row has one, too."""

    table: str
    plain: Sequence[str]
    sealed: Sequence[str]
    json: Sequence[str]
    is_needed_if_empty: bool


TABLES = (
    Covered("drafts", ("person_id", "chat_id", "revision", "channel"), ANSWERS, ("method", "amount", "quote"), False),  # noqa: FBT003
    Covered("recipients", OWNER, (), ("method",), True),  # noqa: FBT003
)


def upgrade() -> None:
    """Add the columns, and seal what is there."""
    for covered in TABLES:
        op.add_column(covered.table, sa.Column("payout_seal", sa.Text))
    if context.config.attributes["is_new"]:
        return
    for covered in TABLES:
        _seal(covered)


def _seal(covered: Covered) -> None:
    names = ("id", "payout_seal", *covered.plain, *covered.sealed, *covered.json)
    rows, last = sa.table(covered.table, *(sa.column(name) for name in names)), ""
    seal = sa.update(rows).where(rows.c.id == sa.bindparam("key")).values(payout_seal=sa.bindparam("seal"))
    wanted = sa.select(rows).order_by(rows.c.id).limit(AT_ONCE)
    while found := list(op.get_bind().execute(wanted.where(rows.c.id > last)).mappings()):
        if not last:
            note_key()
        sealed = [{"key": row["id"], "seal": seal_of} for row in found if (seal_of := _sealed(covered, row))]
        if sealed:
            op.get_bind().execute(seal, sealed)
        last = found[-1]["id"]


def _sealed(covered: Covered, row: sa.RowMapping) -> str | None:
    """Return the row's digest, sealed for it; None where it needs none, or is damaged already and stays unreadable."""
    vault = context.config.attributes["vault"]
    try:
        opened = {name: row[name] and vault.open(row[name], _place(covered, name, row)) for name in covered.sealed}
        read = {name: row[name] and json.loads(row[name]) for name in covered.json}
    except (BrokenSeal, ValueError, RecursionError):
        return None
    if not covered.is_needed_if_empty and not any((*opened.values(), *read.values())):
        return None
    values = {**{name: row[name] for name in covered.plain}, **opened, **read}
    digest = hashlib.sha256(json.dumps(values, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    sealed: str = vault.seal(digest, _place(covered, "payout_seal", row))
    return sealed


def _place(covered: Covered, column: str, row: sa.RowMapping) -> str:
    return f"{covered.table}.{column}:{row['id']}"

"""Read and write how many wrong codes users may still type."""

from datetime import datetime
from typing import Final

from sqlalchemy import delete, func, literal_column, select

from bot.infra.db import upsert
from bot.infra.db.columns import MALFORMED, POSTGRESQL
from bot.infra.db.transaction import Transaction
from bot.orders.receipts.wrong_codes import Refills
from bot.orders.tables import wrong_codes

ALL_USERS: Final = 0
"""The id of the row for all users together. No Telegram user has it."""


class WrongCodeRepository:
    """Read and write the allowances. A user without a row has the whole allowance."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection

    async def lock(self, user_id: int, now: datetime) -> Refills:
        """Return what is left, and lock it until this transaction ends. So simultaneous attempts can't all pass.

        SQLite has one writer at a time and needs no lock.
        """
        if self._connection.dialect.name == POSTGRESQL:
            # Users and payments have the locks 1 and 2 (`orders/repository.py`).
            lock = func.pg_advisory_xact_lock(literal_column("3"), literal_column("0"))
            await self._connection.execute(select(lock))
        of_user = select(wrong_codes).where(wrong_codes.c.user_id.in_([user_id, ALL_USERS]))
        rows = await self._connection.execute(of_user)
        full_at = {row.user_id: row.full_at for row in rows if row.full_at is not MALFORMED}
        return Refills(full_at.get(user_id, now), full_at.get(ALL_USERS, now))

    async def save(self, user_id: int, refills: Refills) -> None:
        """Save what is left."""
        for name, full_at in ((user_id, refills.user_full_at), (ALL_USERS, refills.all_full_at)):
            await upsert.insert_or_replace(self._connection, wrong_codes, {"user_id": name, "full_at": full_at})

    async def delete_full(self, now: datetime, limit: int) -> int:
        """Delete up to `limit` rows of allowances that are full again. Return how many."""
        full = select(wrong_codes.c.user_id).where(wrong_codes.c.full_at < now).limit(limit)
        return (await self._connection.execute(delete(wrong_codes).where(wrong_codes.c.user_id.in_(full)))).rowcount

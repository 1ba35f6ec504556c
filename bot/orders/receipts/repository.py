"""Read and write receipts, and how many wrong codes users may still type.

An order has one receipt, which is found by the hash of its code.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import func, literal_column, select

from bot.infra.db.columns import MALFORMED, POSTGRESQL
from bot.infra.db.repository import Repository, insert_or_replace
from bot.infra.db.transaction import Transaction
from bot.orders.receipts.codes import Receipt, Refills
from bot.orders.tables import receipts, wrong_codes


class ReceiptRepository(Repository[Receipt]):
    """Read and write the receipts of completed orders."""

    table, kind = receipts, Receipt

    async def add(self, receipt: Receipt) -> bool:
        """Add a receipt. Return False if the order has one, or another receipt has this code."""
        return await self._insert(receipt)

    async def of_order(self, reference: str) -> Receipt | None:
        """Return the receipt of an order."""
        return await self._get(select(receipts).where(receipts.c.reference == reference))

    async def of_orders(self, references: Collection[str]) -> tuple[Receipt, ...]:
        """Return the receipts of these orders, without those that can't be read."""
        return await self._find(select(receipts).where(receipts.c.reference.in_(references)))

    async def references_by_code_hash(self, hashes: Collection[str]) -> Mapping[str, str]:
        """Return the references of the orders whose receipts have codes with these hashes, by hash."""
        found = select(receipts.c.code_hash, receipts.c.reference).where(receipts.c.code_hash.in_(hashes))
        return {row.code_hash: row.reference for row in await self._connection.execute(found)}

    async def by_code_hash(self, code_hash: str) -> Receipt | None:
        """Return the receipt whose code has this hash."""
        return await self._get(select(receipts).where(receipts.c.code_hash == code_hash))


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
            await insert_or_replace(self._connection, wrong_codes, {"user_id": name, "full_at": full_at})

"""Read and write receipts. An order has one, which is found by the hash of its code."""

from collections.abc import Collection, Mapping

from sqlalchemy import select

from bot.infra.db.repository import Repository
from bot.orders.receipts.codes import Receipt
from bot.orders.tables import receipts


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

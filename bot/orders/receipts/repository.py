"""Read and write receipts. An order has one, which is found by the hash of its code."""

from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import Select, bindparam, select

from bot.infra.db import encryption, upsert
from bot.infra.db.transaction import Transaction
from bot.orders.receipts.model import Receipt
from bot.orders.tables import receipts

OF_ORDER = select(receipts).where(receipts.c.reference == bindparam("reference"))
OF_ORDERS = select(receipts).where(receipts.c.reference.in_(bindparam("references", expanding=True)))
BY_HASH = select(receipts).where(receipts.c.code_hash == bindparam("hash"))
REFERENCES_BY_HASH = select(receipts.c.code_hash, receipts.c.reference).where(
    receipts.c.code_hash.in_(bindparam("hashes", expanding=True))
)


class ReceiptRepository:
    """Read and write the receipts of completed orders."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def add(self, receipt: Receipt) -> bool:
        """Add a receipt. Return False if the order has one, or another receipt has this code."""
        row = encryption.seal_row(self._vault, receipts, asdict(receipt))
        return await upsert.insert_new(self._connection, receipts, row)

    async def of_order(self, reference: str) -> Receipt | None:
        """Return the receipt of an order."""
        return await self._first(OF_ORDER, reference=reference)

    async def of_orders(self, references: Collection[str]) -> tuple[Receipt, ...]:
        """Return the receipts of these orders, without those that can't be read."""
        rows = (await self._connection.execute(OF_ORDERS, {"references": tuple(references)})).mappings()
        return encryption.read_rows(self._vault, receipts, rows, _receipt)

    async def references_by_code_hash(self, hashes: Collection[str]) -> Mapping[str, str]:
        """Return the references of the orders whose receipts have codes with these hashes, by hash."""
        rows = await self._connection.execute(REFERENCES_BY_HASH, {"hashes": tuple(hashes)})
        return {row.code_hash: row.reference for row in rows}

    async def by_code_hash(self, code_hash: str) -> Receipt | None:
        """Return the receipt whose code has this hash."""
        return await self._first(BY_HASH, hash=code_hash)

    async def _first(self, statement: Select[Any], **values: object) -> Receipt | None:
        row = (await self._connection.execute(statement, values)).mappings().first()
        return encryption.read_row(self._vault, receipts, dict(row), _receipt) if row else None


def _receipt(known: dict[str, Any]) -> Receipt:
    return Receipt(**known)

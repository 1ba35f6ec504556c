"""Find receipts for pages: by the order whose page is open, and by the code that someone checks."""

from collections.abc import Collection, Mapping

from bot.infra.db.database import Database
from bot.orders.pay_page.batched_reads import BatchedReads, Pace
from bot.orders.pay_page.lookup import PACE
from bot.orders.receipts.model import SentOrder
from bot.orders.receipts.service import UnreadableReceipt, find_by_codes, find_sent_orders

CODES_PACE = Pace(batch=20, pause_seconds=0.2, max_waiting=500)
"""Up to 100 codes a second, so that guessing is slow. It is a limit for everyone together: behind a proxy, all requests
come from one address. During an attack, a genuine code waits some seconds. It is chosen at random like the guesses, so
no number of guesses at once shuts it out."""


class ReceiptLookup:
    """Find completed orders with their receipts. Nothing is kept in memory, because they have recipients."""

    def __init__(self, database: Database, codes_pace: Pace = CODES_PACE) -> None:
        self._database = database
        self._orders = BatchedReads(self._read_orders, PACE)
        self._codes = BatchedReads(self._read_codes, codes_pace)

    async def find_by_order(self, reference: str) -> SentOrder | None:
        """Return a completed order with its receipt, or None if it has none. Raises as `BatchedReads.find` does."""
        return await self._orders.find(reference)

    async def find_by_code(self, code: str) -> SentOrder | None:
        """Return the order whose receipt has this code, or None if no receipt has it.

        Raises:
            UnreadableReceipt: there is a receipt, but this process can't read its order.
            StoreDown: the database does not answer.
            TooMany: too many codes are waiting.
        """
        found = await self._codes.find(code)
        if isinstance(found, UnreadableReceipt):
            raise UnreadableReceipt
        return found

    async def _read_orders(self, references: Collection[str]) -> Mapping[str, SentOrder]:
        async with self._database.reading() as tx:
            return await find_sent_orders(tx, references)

    async def _read_codes(self, codes: Collection[str]) -> Mapping[str, SentOrder | UnreadableReceipt]:
        async with self._database.reading() as tx:
            return await find_by_codes(tx, codes)

"""Receipts of orders that were sent: made once, and looked up by whoever was shown one."""

from typing import Final

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.orders.order import Order
from bot.orders.receipts.codes import code_hash, new_code, read_code
from bot.orders.receipts.guessing import Guesses
from bot.orders.receipts.model import Receipt
from bot.orders.receipts.repository import ReceiptRepository
from bot.orders.repository import OrderRepository
from bot.settlement.steps import COMPLETED

PEPPER: Final = b"kirim receipts, first and only pepper"
"""No secret, and none of ENCRYPTION_KEYS, for keys are rotated and every receipt in the world would turn false. A code
is 60 random bits that stand in no table, so a stolen hash is of no use: whoever could try them all would only learn
the code of a row that they have already."""

_NO_CODE: Final = "no code"
"""What is looked up for text that is no code, so that it takes what a wrong code takes; it is no hash."""


class ReceiptService:
    """Makes receipts and verifies their codes."""

    def __init__(self, store: Database, clock: Clock, guesses: Guesses | None = None) -> None:
        self._store = store
        self._clock = clock
        self._guesses = guesses or Guesses()

    async def of(self, order: Order) -> Receipt | None:
        """The one receipt of `order`, made now if it hasn't been; None where there is none, or none any more.

        It is kept before anybody sees it. So wherever a crash interrupts, the order's code stays the same.
        """
        if order.state != COMPLETED:
            return None
        async with self._store.reading() as tx:
            receipt = await ReceiptRepository(tx).of_order(order.reference)
        receipt = receipt or await self._make(order.reference)
        return receipt if receipt and receipt.code else None

    async def _make(self, reference: str) -> Receipt | None:
        """A new receipt, or the one that somebody else has just made; none for a recipient who is forgotten."""
        async with self._store.transaction() as tx:
            order = await OrderRepository(tx).get(reference)
            if order is None or not order.has_recipient:
                return None
            made = _new(reference, self._clock)
            return made if await ReceiptRepository(tx).add(made) else await ReceiptRepository(tx).of_order(reference)

    async def verify(self, person_id: int, typed: str) -> Order | None:
        """The order whose receipt has the code that this person typed; None where there is none.

        Raises:
            TooManyMisses: they have been wrong too often.
        """
        cost, is_missed = self._guesses.charge(person_id, self._clock.now()), False
        try:
            order = await self._with_code(typed)
            is_missed = order is None
        finally:
            if not is_missed:
                self._guesses.refund(person_id, cost)
        return order

    async def _with_code(self, typed: str) -> Order | None:
        code = read_code(typed)
        async with self._store.reading() as tx:
            receipt = await ReceiptRepository(tx).by_code_hash(code_hash(code, PEPPER) if code else _NO_CODE)
            return await OrderRepository(tx).get(receipt.reference) if receipt else None


def _new(reference: str, clock: Clock) -> Receipt:
    code = new_code()
    return Receipt(reference=reference, code=code, code_hash=code_hash(code, PEPPER), created_at=clock.now())

"""Receipts of orders that were sent: created once, and checked by anyone who was shown one."""

from typing import Final

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.orders.order import Order
from bot.orders.receipts.codes import code_hash, new_code, read_code
from bot.orders.receipts.model import Receipt
from bot.orders.receipts.repository import ReceiptRepository
from bot.orders.receipts.wrong_codes import WrongCodeLimiter
from bot.orders.repository import OrderRepository
from bot.settlement.steps import COMPLETED

PEPPER: Final = b"kirim receipts, first and only pepper"
"""This is no secret, and not one of ENCRYPTION_KEYS: after a rotation of keys every receipt would be false. A code is
60 random bits that are in no table, so a stolen hash is of no use. Who could try all codes would only learn the code of
a row that they have already."""

_NO_CODE: Final = "no code"
"""Looked up for text that is no code, so that it takes as long as a wrong code. It is no hash."""


class ReceiptService:
    """Create receipts and verify their codes."""

    def __init__(self, store: Database, clock: Clock, wrong_codes: WrongCodeLimiter | None = None) -> None:
        self._store = store
        self._clock = clock
        self._wrong_codes = wrong_codes or WrongCodeLimiter()

    async def of(self, order: Order) -> Receipt | None:
        """Return the receipt of `order`, and create it if necessary; None if it has none, or no longer has one.

        It is saved before anybody sees it. So wherever a crash interrupts, the order's code stays the same.
        """
        if order.state != COMPLETED:
            return None
        async with self._store.reading() as tx:
            receipt = await ReceiptRepository(tx).of_order(order.reference)
        receipt = receipt or await self._create(order.reference)
        return receipt if receipt and receipt.code else None

    async def _create(self, reference: str) -> Receipt | None:
        """Return a new receipt, or the one that was created meanwhile; None if the recipient is deleted."""
        async with self._store.transaction() as tx:
            order = await OrderRepository(tx).get(reference)
            if order is None or not order.has_recipient:
                return None
            made = _new(reference, self._clock)
            return made if await ReceiptRepository(tx).add(made) else await ReceiptRepository(tx).of_order(reference)

    async def verify(self, user_id: int, typed: str) -> Order | None:
        """Return the order whose receipt has the code that this user typed; None if there is none.

        Raises:
            TooManyWrongCodes: the user has typed too many wrong codes.
        """
        cost, is_wrong = self._wrong_codes.charge(user_id, self._clock.now()), False
        try:
            order = await self._with_code(typed)
            is_wrong = order is None
        finally:
            if not is_wrong:
                self._wrong_codes.refund(user_id, cost)
        return order

    async def _with_code(self, typed: str) -> Order | None:
        code = read_code(typed)
        async with self._store.reading() as tx:
            receipt = await ReceiptRepository(tx).by_code_hash(code_hash(code, PEPPER) if code else _NO_CODE)
            return await OrderRepository(tx).get(receipt.reference) if receipt else None


def _new(reference: str, clock: Clock) -> Receipt:
    code = new_code()
    return Receipt(reference=reference, code=code, code_hash=code_hash(code, PEPPER), created_at=clock.now())

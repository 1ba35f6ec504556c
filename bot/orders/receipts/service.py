"""Create the receipts of completed orders, draw them, and verify them for anyone."""

import asyncio
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Final

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.orders.order import Order
from bot.orders.receipts.codes import USUAL_LIMITS, Receipt, SentOrder, WrongCodeLimits, code_hash, new_code, read_code
from bot.orders.receipts.repository import ReceiptRepository, WrongCodeRepository
from bot.orders.receipts.screens import ReceiptFacts
from bot.orders.repository import OrderRepository
from bot.settlement.model import COMPLETED

PEPPER: Final = b"kirim receipts, first and only pepper"
"""This is no secret. It isn't one of ENCRYPTION_KEYS, because after a key rotation no receipt would be valid.

A code is 60 random bits and is stored encrypted, so a stolen hash doesn't reveal it. An attacker who tries all codes
only learns the code of a row that they already have.
"""

_NO_CODE: Final = "no code"
"""Looked up in place of a hash if the text is no code, so that the answer takes as long as for a wrong code."""


class UnreadableReceipt(Exception):
    """There is a receipt, but this process can't read its order: for example, it doesn't have the key."""


class ReceiptService:
    """Create receipts and verify their codes."""

    def __init__(self, database: Database, clock: Clock, limits: WrongCodeLimits = USUAL_LIMITS) -> None:
        self._database = database
        self._clock = clock
        self._limits = limits

    async def get_or_create(self, order: Order) -> Receipt | None:
        """Return the receipt of `order`, creating it if necessary. Return None if it has none, or no longer has one.

        The receipt is saved before it is shown. So the order's code stays the same after a crash.
        """
        if order.state != COMPLETED:
            return None
        async with self._database.reading() as tx:
            receipt = await ReceiptRepository(tx).of_order(order.reference)
        receipt = receipt or await self._create(order.reference)
        return receipt if receipt and receipt.code else None

    async def _create(self, reference: str) -> Receipt | None:
        """Return a new receipt, or the one that was created meanwhile. Return None if the recipient is deleted."""
        async with self._database.transaction() as tx:
            order = await OrderRepository(tx).get(reference)
            if order is None or not order.has_recipient:
                return None
            return await create_receipt(tx, order, self._clock.now()) or await ReceiptRepository(tx).of_order(reference)

    async def verify(self, user_id: int, typed: str) -> Order | None:
        """Return the order whose receipt has the code that this user typed, or None if there is none.

        Raises:
            TooManyWrongCodes: the user has typed too many wrong codes.
        """
        now = self._clock.now()
        async with self._database.transaction() as tx:
            refills = self._limits.charge(await WrongCodeRepository(tx).lock(user_id, now), now)
            order = await _find_by_code(tx, typed)
            if order is None:
                await WrongCodeRepository(tx).save(user_id, refills)
        return order


async def create_receipt(tx: Transaction, order: Order, now: datetime) -> Receipt | None:
    """Add the receipt of a completed order. Return None if the order has one."""
    code = new_code()
    receipt = Receipt(reference=order.reference, code=code, code_hash=code_hash(code, PEPPER), created_at=now)
    return receipt if await ReceiptRepository(tx).add(receipt) else None


async def find_receipt(tx: Transaction, order: Order) -> Receipt | None:
    """Return the receipt of an order, unless it has none, or no longer has one."""
    receipt = await ReceiptRepository(tx).of_order(order.reference) if order.state == COMPLETED else None
    return receipt if receipt and receipt.code else None


async def find_sent_orders(tx: Transaction, references: Collection[str]) -> Mapping[str, SentOrder]:
    """Return the orders that have receipts, by reference. Those whose recipients are deleted no longer have one."""
    codes = {each.reference: each.code for each in await ReceiptRepository(tx).of_orders(references) if each.code}
    found = await OrderRepository(tx).with_references(codes) if codes else ()
    return {each.reference: SentOrder(each, codes[each.reference]) for each in found if each.state == COMPLETED}


async def find_by_codes(tx: Transaction, codes: Collection[str]) -> Mapping[str, SentOrder | UnreadableReceipt]:
    """Return the orders whose receipts have these codes, by code. A code is as `new_code` returns it.

    Orders whose recipients are deleted are among them, so that a forwarded receipt can still be checked.
    """
    code_of = {code_hash(code, PEPPER): code for code in codes}
    references = await ReceiptRepository(tx).references_by_code_hash(code_of)
    found = await OrderRepository(tx).with_references(references.values()) if references else ()
    orders = {each.reference: each for each in found}
    return {
        code_of[digest]: SentOrder(orders[reference], code_of[digest]) if reference in orders else UnreadableReceipt()
        for digest, reference in references.items()
    }


async def _find_by_code(tx: Transaction, typed: str) -> Order | None:
    code = read_code(typed)
    receipt = await ReceiptRepository(tx).by_code_hash(code_hash(code, PEPPER) if code else _NO_CODE)
    return await OrderRepository(tx).get(receipt.reference) if receipt else None


# One thread only, as for QR codes. Many receipts at once queue here. So they don't compete with the event loop, and
# don't delay the QR codes that users are waiting for.
_RENDERER: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="receipt")


async def render_receipt_off_loop(facts: ReceiptFacts) -> bytes:
    """Draw a receipt as a PNG.

    Raises:
        UnrenderableQr: `verify_url` is too long for a QR code.
    """
    return await asyncio.get_running_loop().run_in_executor(_RENDERER, _render, facts)


def _render(facts: ReceiptFacts) -> bytes:
    from bot.orders.receipts.drawing import render_receipt  # noqa: PLC0415  all that draws is loaded in the thread, as for charts

    return render_receipt(facts)

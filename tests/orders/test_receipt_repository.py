"""Receipts in both databases: each order has one code, which is valid for as long as the order is kept."""

import asyncio
from datetime import datetime

import pytest

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.orders.order import Order
from bot.orders.receipts.codes import (
    Allowance,
    Receipt,
    TooManyWrongCodes,
    WrongCodeLimits,
)
from bot.orders.receipts.service import ReceiptService
from bot.orders.repository import OrderRepository
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.orders.builders import an_order
from tests.times import NOW, SECOND
from tests.users.stored_data import delete_user

EMMA, STRANGER = 1001, 1002
UNKNOWN = "K7QM-2XPA-9RTW"


class StoppedClock:
    """A clock that always shows the same time."""

    def now(self) -> datetime:
        return NOW


CLOCK: Clock = StoppedClock()


async def sent(store: Database, reference: str = "R2345AB") -> Order:
    """Save a completed order of Emma."""
    order = an_order(reference, state="COMPLETED", ended_at=NOW)
    async with store.transaction() as tx:
        assert await OrderRepository(tx).add(order)
    return order


async def receipt_of(receipts: ReceiptService, order: Order) -> Receipt:
    receipt = await receipts.get_or_create(order)
    assert receipt is not None
    return receipt


async def test_two_who_make_it_at_once_make_one(store: Database, other_store: Database) -> None:
    order = await sent(store)
    both = [ReceiptService(store, CLOCK), ReceiptService(other_store, CLOCK)]
    made = await asyncio.gather(*(receipt_of(receipts, order) for receipts in both * 5))
    assert len({receipt.code for receipt in made}) == 1


async def test_any_changed_character_is_false(store: Database) -> None:
    receipts = ReceiptService(store, CLOCK, WrongCodeLimits(Allowance(1000, 10 * SECOND)))
    code = (await receipt_of(receipts, await sent(store))).code
    for place, character in enumerate(code):
        if character != "-":
            changed = code[:place] + ("3" if character != "3" else "4") + code[place + 1 :]
            assert await receipts.verify(STRANGER, changed) is None


@pytest.mark.parametrize("typed", ["", "no code", "R2345AB", "%", "' OR 1=1 --", "🎉" * 4_096, "\ud800", "\x00"])
async def test_what_is_no_code_is_false_as_well_and_costs_a_guess(store: Database, typed: str) -> None:
    await receipt_of(ReceiptService(store, CLOCK), await sent(store))
    receipts = ReceiptService(store, CLOCK, WrongCodeLimits(Allowance(1, 10 * SECOND)))
    assert await receipts.verify(STRANGER, typed) is None
    with pytest.raises(TooManyWrongCodes):
        await receipts.verify(STRANGER, typed)


async def test_after_too_many_misses_a_genuine_code_is_not_looked_up_either(store: Database) -> None:
    """Otherwise the limit would reveal which codes exist."""
    receipts = ReceiptService(store, CLOCK)
    code = (await receipt_of(receipts, await sent(store))).code
    for _ in range(10):
        assert await receipts.verify(STRANGER, UNKNOWN) is None
    with pytest.raises(TooManyWrongCodes):
        await receipts.verify(STRANGER, code)
    assert await receipts.verify(EMMA, code) is not None


async def test_processes_count_wrong_codes_together(store: Database, other_store: Database) -> None:
    both = [ReceiptService(store, CLOCK), ReceiptService(other_store, CLOCK)]
    attempts = (receipts.verify(STRANGER, UNKNOWN) for receipts in both * 10)
    results = await asyncio.gather(*attempts, return_exceptions=True)
    assert results.count(None) == 10
    assert sum(isinstance(result, TooManyWrongCodes) for result in results) == 10


async def test_a_forgotten_users_receipt_stays_true_of_what_is_left(store: Database) -> None:
    order, receipts = await sent(store), ReceiptService(store, CLOCK)
    code = (await receipt_of(receipts, order)).code
    async with store.transaction() as tx:
        await UserRepository(tx).save(User(id=EMMA, created_at=NOW))
        await delete_user(tx, EMMA)
    found = await receipts.verify(STRANGER, code)
    assert found is not None
    assert (found.number, found.holder, found.idr or found.expected_idr) == ("", None, 250_000)
    # Nobody can get the receipt again. Only those who have the picture know its code.
    assert await receipts.get_or_create(order) is None
    assert await receipts.get_or_create(found) is None

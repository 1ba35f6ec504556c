"""Transfers of the past and of now, for tests of destinations."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from bot.infra.db.database import Database
from bot.orders.order import Order, Phase
from bot.orders.repository import OrderRepository
from bot.settlement.model import COMPLETED, FAILED, OrderStep, PayoutMethod
from tests.orders.builders import an_order
from tests.settlement.builders import BCA

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def a_transfer(number: int, paid_at: datetime, took: timedelta | None, **changes: Any) -> Order:
    """Return an order that was paid then. It took so long, or is still open (None) and was read a second ago."""
    end: dict[str, Any] = {"phase": Phase.OPEN, "state": "USDC_SWAPPED", "step": OrderStep.CONVERTING}
    if took is not None:
        end = {"phase": Phase.DONE, "state": COMPLETED, "step": OrderStep.SENT, "ended_at": paid_at + took}
    values: dict[str, Any] = {
        "user_id": 5_000 + number,
        "created_at": paid_at - MINUTE,
        "paid_at": paid_at,
        "last_polled_at": paid_at + took if took is not None else paid_at,
    }
    return an_order(f"T{number:05}", **{**values, **end, **changes})


def a_failed_transfer(number: int, paid_at: datetime, took: timedelta, **changes: Any) -> Order:
    """Return an order that failed after it was paid."""
    return replace(a_transfer(number, paid_at, took, **changes), state=FAILED, step=OrderStep.PAID)


def some_history(
    now: datetime, count: int = 60, *, method: PayoutMethod = BCA, first: int = 0, failed: int = 0
) -> list[Order]:
    """Return transfers of two to seven minutes over the weeks that ended two days ago, and as many failed ones."""
    sent = [
        a_transfer(first + each, now - 2 * DAY - each * 9 * HOUR, (2 + each % 6) * MINUTE, method=method)
        for each in range(count)
    ]
    return [
        *sent,
        *(
            a_failed_transfer(first + count + each, now - 3 * DAY - each * HOUR, MINUTE, method=method)
            for each in range(failed)
        ),
    ]


async def keep(store: Database, *orders: Order) -> None:
    """Save orders."""
    async with store.transaction() as tx:
        for order in orders:
            assert await OrderRepository(tx).add(order)

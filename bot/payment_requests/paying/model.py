"""Which unpaid order a payer is shown again in place of a new one."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal

from bot.core.money import Amount
from bot.orders.order import Order, OrderStatus
from bot.rates.quote import price_drift_percent

PRICED = frozenset({OrderStatus.WAITING, OrderStatus.NEEDS_CONFIRMATION})
"""The statuses of an order with a locked price. The price of the others isn't known yet."""


def find_unpaid(
    orders: Iterable[Order], *, origin: str, idr: int, sats: int, now: datetime, drift_percent: Decimal
) -> Order | None:
    """Return the newest of a payer's orders from this link that takes the place of another one of `idr` rupiah.

    It asks for the same sum, and may still be paid, or may have been created. A locked price must be about `sats`, the
    price of the sum now.
    """
    return next(
        (
            order
            for order in sorted(orders, key=lambda each: each.created_at, reverse=True)
            if order.origin == origin
            and order.amount == Amount("IDR", idr)
            and order.blocks_another(now)
            and _is_price_kept(order, idr, sats, now, drift_percent)
        ),
        None,
    )


def _is_price_kept(order: Order, idr: int, sats: int, now: datetime, drift_percent: Decimal) -> bool:
    if order.status(now) not in PRICED:
        return True
    locked_sats, locked_idr = order.last_price
    drift = price_drift_percent(expected_sats=sats, expected_idr=idr, sats=locked_sats, idr=locked_idr)
    return abs(drift) <= drift_percent

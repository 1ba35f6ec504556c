"""How often an order is looked at: often while something may happen, less and less after that, and for how long."""

from datetime import datetime, timedelta

from bot.orders.order import Order, Phase

WATCH_AFTER_EXPIRY = timedelta(days=1)
"""A late payment is still seen for this long; an unpaid order of the live service never ends by itself."""

WATCH_WITHOUT_EXPIRY = timedelta(days=7)
"""EVM deposits have no expiry: they are followed for a week, less and less often after the first hours."""

FRESH = timedelta(hours=1)
FRESH_DEPOSIT = timedelta(hours=3)
"""Somebody with deposit instructions is likely to pay within this time; then every change is seen at once."""

SLOWEST = timedelta(minutes=10)
CLOSEST = timedelta(seconds=1)
"""Settlement API, 6.3: no order is asked for more than once a second."""

PATIENCE = 20
"""Past the time when things are expected, an order is looked at each twentieth of the time it has waited."""


def is_followed(order: Order) -> bool:
    """Whether the service is asked about `order` at all."""
    return order.phase is Phase.OPEN and not order.is_ended


def next_look(order: Order, now: datetime, interval: timedelta) -> datetime | None:
    """When to ask the service about `order` again (settlement API, 6.3), or None for never.

    `interval` is the polling interval. A paid order is followed until it ends, however long that takes. An invoice's
    expiry is followed by a look right after it, which decides whether the expiry is told.
    """
    if not is_followed(order):
        return None
    quiet_since = _quiet_since(order)
    waited = now - quiet_since
    if not order.is_paid and waited > _watch_for(order):
        return None
    if waited <= timedelta(0):
        return _at_expiry(order, now, now + interval)
    return now + max(interval, min(waited / PATIENCE, SLOWEST))


def payable_until(order: Order) -> datetime:
    """Return until when an unpaid order can be paid: a deposit without expiry, for as long as it is followed."""
    if order.phase is not Phase.OPEN:
        return order.offer_ends_at
    return order.expires_at or _payable_since(order) + WATCH_WITHOUT_EXPIRY


def _at_expiry(order: Order, now: datetime, look: datetime) -> datetime:
    """Return the time of the next look, which is the expiry if that comes before `look`."""
    if order.is_paid or order.expires_at is None or now >= order.expires_at:
        return look
    return min(look, max(order.expires_at, now + CLOSEST))


def _quiet_since(order: Order) -> datetime:
    if order.is_paid:
        return (order.paid_at or order.created_at) + FRESH
    return order.expires_at or _payable_since(order) + FRESH_DEPOSIT


def _payable_since(order: Order) -> datetime:
    """Return when the sender could first pay. A price that moved may be accepted hours after the order was created."""
    return order.payable_since or order.created_at


def _watch_for(order: Order) -> timedelta:
    return WATCH_AFTER_EXPIRY if order.expires_at else WATCH_WITHOUT_EXPIRY

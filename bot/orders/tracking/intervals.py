"""When an order is polled next: often while something may happen, less and less after that, and for how long."""

from datetime import datetime, timedelta

from bot.orders.order import Order, Phase

TRACK_AFTER_EXPIRY = timedelta(days=1)
"""A late payment is still seen for this long. An unpaid order of the live service never ends."""

TRACK_WITHOUT_EXPIRY = timedelta(days=7)
"""EVM deposits have no expiry. They are followed for a week, less and less often after the first hours."""

FREQUENT_FOR = timedelta(hours=1)
FREQUENT_FOR_DEPOSITS = timedelta(hours=3)
"""Most senders with deposit instructions pay within this time, so every change is seen at once."""

LONGEST_INTERVAL = timedelta(minutes=10)
SHORTEST_INTERVAL = timedelta(seconds=1)
"""Settlement API, 6.3: no order is asked for more than once a second."""

INTERVALS_PER_WAIT = 20
"""Past the time when changes are expected, the interval is a twentieth of the time that has passed since."""


def is_tracked(order: Order) -> bool:
    """Return whether the service is asked about `order` at all."""
    return order.phase is Phase.OPEN and not order.is_ended


def next_poll_at(order: Order, now: datetime, interval: timedelta) -> datetime | None:
    """Return when to ask the service about `order` again (settlement API, 6.3), or None for never.

    `interval` is the polling interval. A paid order is followed until it ends, however long that takes. An order is
    polled right after its invoice expires, which decides whether its user is notified of the expiry.
    """
    if not is_tracked(order):
        return None
    quiet_since = _quiet_since(order)
    waited = now - quiet_since
    if not order.is_paid and waited > _follow_for(order):
        return None
    if waited <= timedelta(0):
        return _at_expiry(order, now, now + interval)
    return now + max(interval, min(waited / INTERVALS_PER_WAIT, LONGEST_INTERVAL))


def payable_until(order: Order) -> datetime:
    """Return until when an unpaid order can be paid. A deposit without expiry can be paid while it is followed."""
    if order.phase is not Phase.OPEN:
        return order.offer_ends_at
    return order.expires_at or _payable_since(order) + TRACK_WITHOUT_EXPIRY


def _at_expiry(order: Order, now: datetime, poll_at: datetime) -> datetime:
    """Return the time of the next poll, which is the expiry if that comes before `poll_at`."""
    if order.is_paid or order.expires_at is None or now >= order.expires_at:
        return poll_at
    return min(poll_at, max(order.expires_at, now + SHORTEST_INTERVAL))


def _quiet_since(order: Order) -> datetime:
    if order.is_paid:
        return (order.paid_at or order.created_at) + FREQUENT_FOR
    return order.expires_at or _payable_since(order) + FREQUENT_FOR_DEPOSITS


def _payable_since(order: Order) -> datetime:
    """Return when the sender could first pay. A price that moved may be accepted hours after the order was created."""
    return order.payable_since or order.created_at


def _follow_for(order: Order) -> timedelta:
    return TRACK_AFTER_EXPIRY if order.expires_at else TRACK_WITHOUT_EXPIRY

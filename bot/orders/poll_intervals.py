"""Decide when an order is polled next: often while changes are expected, less often later, and for how long."""

from datetime import datetime, timedelta

from bot.orders.order import Failure, Order, Phase

TRACK_AFTER_EXPIRY = timedelta(days=1)
"""How long an expired order is polled for a late payment. The live service never ends an unpaid order."""

TRACK_WITHOUT_EXPIRY = timedelta(days=7)
"""How long a deposit is polled. It has no expiry. After the first hours it is polled less and less often."""

READ_AFTER_FAILURE = (timedelta(minutes=5), timedelta(minutes=15), timedelta(minutes=60), timedelta(days=1))
"""How long after the service has failed an unpaid invoice the order is read again: it can still be paid."""

FREQUENT_FOR = timedelta(hours=1)
FREQUENT_FOR_DEPOSITS = timedelta(hours=3)
"""How long orders are polled at the shortest interval. Most senders of deposits pay within this time."""

LONGEST_INTERVAL = timedelta(minutes=10)
SHORTEST_INTERVAL = timedelta(seconds=1)
"""An order is polled at most once a second (settlement API, 6.3)."""

INTERVALS_PER_WAIT = 20
"""When changes are no longer expected, the interval is a twentieth of the time since then."""


def is_tracked(order: Order) -> bool:
    """Return whether `order` is polled at its intervals."""
    return order.phase is Phase.OPEN and not order.is_ended


def next_poll_at(order: Order, now: datetime, interval: timedelta) -> datetime | None:
    """Return when to poll `order` next (settlement API, 6.3), or None if it isn't polled any longer.

    `interval` is the polling interval. A paid order is polled until it ends. An unpaid order is polled right after its
    invoice expires, because that poll decides whether its user is notified of the expiry. After it has failed unpaid,
    it is read a few more times (`READ_AFTER_FAILURE`).
    """
    if order.is_closed_unpaid and order.failure is Failure.UNPAID and order.ended_at is not None:
        reads = (order.ended_at + wait for wait in READ_AFTER_FAILURE)
        return next((at for at in reads if at > now), None)
    if not is_tracked(order):
        return None
    quiet_since = _quiet_since(order)
    waited = now - quiet_since
    if not order.is_paid and waited > _track_for(order):
        return None
    if waited <= timedelta(0):
        return _expiry_or(order, now, now + interval)
    return now + max(interval, min(waited / INTERVALS_PER_WAIT, LONGEST_INTERVAL))


def payable_until(order: Order) -> datetime:
    """Return until when an unpaid order can be paid. A deposit without expiry can be paid while it is polled."""
    if order.phase is not Phase.OPEN:
        return order.offer_ends_at
    return order.invoice_expires_at or order.expires_at or _payable_since(order) + TRACK_WITHOUT_EXPIRY


def _expiry_or(order: Order, now: datetime, poll_at: datetime) -> datetime:
    if order.is_paid or order.expires_at is None or now >= order.expires_at:
        return poll_at
    return min(poll_at, max(order.expires_at, now + SHORTEST_INTERVAL))


def _quiet_since(order: Order) -> datetime:
    if order.is_paid:
        return (order.paid_at or order.created_at) + FREQUENT_FOR
    return order.expires_at or _payable_since(order) + FREQUENT_FOR_DEPOSITS


def _payable_since(order: Order) -> datetime:
    """Return when the sender could first pay. A changed price may be accepted hours after the order was created."""
    return order.payable_since or order.created_at


def _track_for(order: Order) -> timedelta:
    if order.expires_at is None:
        return TRACK_WITHOUT_EXPIRY
    return (order.invoice_expires_at or order.expires_at) - order.expires_at + TRACK_AFTER_EXPIRY

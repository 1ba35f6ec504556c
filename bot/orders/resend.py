"""When an order may be sent again, and the price that its user was last shown."""

from datetime import datetime

from bot.orders.order import LOOKED_FOR, Failure, Order, Phase
from bot.orders.tracking.intervals import offer_is_over


def may_be_sent_again(order: Order, now: datetime) -> bool:
    """Whether the same recipient may be sent to again by this order's button: one wish, one invoice.

    Not while the order is still being looked for or decided, nor while its own invoice can be paid; a paid order was
    a wish of its own.
    """
    if not order.has_recipient or order.phase in LOOKED_FOR:
        return False
    if order.phase is Phase.HELD:
        return offer_is_over(order, now)
    return order.phase is not Phase.OPEN or order.is_paid or is_lapsed(order, now)


def is_lapsed(order: Order, now: datetime) -> bool:
    """Whether it is too late to pay, and no payment has been seen.

    A deposit that failed may have been paid unseen: whoever is told not to pay again isn't offered to.
    """
    if order.is_paid or order.failure is Failure.UNKNOWN:
        return False
    return order.is_ended or order.expiry_told or order.is_expired(now)


def is_given_up(order: Order) -> bool:
    """Whether nobody follows it any more although its end was never seen: no payment came for too long."""
    return order.phase is Phase.DONE and not order.is_ended


def last_price(order: Order) -> tuple[int, int]:
    """The sats and rupiah that its person was last shown: the locked ones, or else those of the review."""
    if order.sats is None or order.idr is None or not has_shown_price(order):
        return order.expected_sats, order.expected_idr
    return order.sats, order.idr


def has_shown_price(order: Order) -> bool:
    """Whether its person has been shown a locked price.

    One that wasn't what was agreed was not, and then neither invoice nor deposit was kept.
    """
    return order.sats is not None and order.idr is not None and bool(order.bolt11 or order.deposit)

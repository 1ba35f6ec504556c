"""How much one user may order: unpaid orders at once, orders an hour, rupiah a day; and from when on again.

What counts:

unpaid at once      what can still be paid: an intent in progress or not found yet, a price that waits for an answer,
                    and a shown invoice until it is paid, failed or expired. Without an expiry it counts for a day.
orders an hour      every attempt, also those that the service refused: each was a request to it.
rupiah a day        an order while it can still be paid, and for 24 hours after it was paid, whatever its end. A
                    deposit without expiry can be paid for a week. Orders that were refused, abandoned or have expired
                    unpaid don't count.

Hours and days are the last 60 minutes and the last 24 hours, not the calendar's. So each order stops counting at a
known time, and a rejection names the latest of the times that have to pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.core.errors import Rejection
from bot.orders.order import Order, Phase
from bot.orders.tracking.intervals import payable_until

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
MAY_BE_PAID = frozenset({Phase.INTENDED, Phase.UNKNOWN, Phase.UNRESOLVED, Phase.NEEDS_CONFIRMATION, Phase.OPEN})


@dataclass(frozen=True, slots=True)
class AmountLimits:
    """The least and the most whole rupiah that one order may bring. `maximum` is None if there is no cap.

    They are checked with the amount at the quote, and again with the amount that the service has locked.
    """

    minimum: int
    maximum: int | None

    def is_below(self, idr: int) -> bool:
        """Return whether `idr` is less than the service pays out."""
        return idr < self.minimum

    def is_above(self, idr: int) -> bool:
        """Return whether `idr` is more than the destination accepts."""
        return self.maximum is not None and idr > self.maximum

    def allow(self, idr: int) -> bool:
        """Return whether an order may bring `idr`."""
        return not (self.is_below(idr) or self.is_above(idr))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one user. 0 is no limit."""

    open_orders: int = 0
    orders_per_hour: int = 0
    idr_per_day: int = 0

    @property
    def are_none(self) -> bool:
        """Whether there is no limit at all."""
        return not (self.open_orders or self.orders_per_hour or self.idr_per_day)


def waits_for_payment(order: Order, now: datetime) -> bool:
    """Return whether `order` is unpaid and can still be paid."""
    is_possible = order.phase in MAY_BE_PAID and not order.is_paid and not order.is_ended
    return is_possible and now < order.offer_ends_at


def check_count(limits: Limits, orders: Sequence[Order], now: datetime) -> None:
    """Raise `Rejection` if no further order is possible now, whatever its amount.

    `orders` are the user's orders that may count (`OrderRepository.may_count`). The argument `again` is when an order
    will be possible, if nothing happens until then.
    """
    refusals = _refusals_of_count(limits, orders, now)
    if refusals:
        raise max(refusals, key=_again)


def check(limits: Limits, orders: Sequence[Order], idr: int, now: datetime, *, smallest: int) -> None:
    """Raise `Rejection` if an order of `idr` rupiah is not possible now.

    `orders` are the user's orders that may count, and `smallest` is the least amount of any order. The arguments are
    `limit`; `remaining`, the largest amount possible now; and `again`, when this amount will be possible if nothing
    happens until then. An amount above the limit of a day is never possible: then they are the largest amount, or when
    any amount will be possible.
    """
    refusals = _refusals_of_count(limits, orders, now)
    limit = limits.idr_per_day
    if limit and idr > limit:
        raise _never(limit, _spent(orders, now), refusals, smallest)
    if limit and (refusal := _refusal_of_sum(limit, _spent(orders, now), idr, smallest, or_less=not refusals)):
        refusals.append(refusal)
    if refusals:
        raise max(refusals, key=_again)


def _refusals_of_count(limits: Limits, orders: Sequence[Order], now: datetime) -> list[Rejection]:
    waiting = [order.offer_ends_at for order in orders if waits_for_payment(order, now)]
    placed = [order.created_at + HOUR for order in orders if now < order.created_at + HOUR]
    found = (
        _refusal_of_count("limits.open", limits.open_orders, waiting),
        _refusal_of_count("limits.hour", limits.orders_per_hour, placed),
    )
    return [refusal for refusal in found if refusal is not None]


def _refusal_of_count(key: str, limit: int, ends: list[datetime]) -> Rejection | None:
    """Return the rejection if there are `limit` orders, which stop counting at `ends`, and None otherwise."""
    if not limit or len(ends) < limit:
        return None
    return Rejection(key, count=len(ends), again=sorted(ends)[len(ends) - limit])


def _refusal_of_sum(
    limit: int, spent: list[tuple[datetime, int]], idr: int, smallest: int, *, or_less: bool
) -> Rejection | None:
    remaining = limit - sum(rupiah for _, rupiah in spent)
    if idr <= remaining:
        return None
    again = _when_fits(limit, spent, idr)
    if or_less and remaining >= smallest:
        return Rejection("amount.day_remaining", limit=limit, remaining=remaining, again=again)
    return Rejection("amount.day_full", limit=limit, again=again)


def _never(limit: int, spent: list[tuple[datetime, int]], refusals: list[Rejection], smallest: int) -> Rejection:
    remaining = limit - sum(rupiah for _, rupiah in spent)
    if remaining >= smallest and not refusals:
        return Rejection("amount.above_day", limit=limit, remaining=remaining)
    waited_for = [_again(refusal) for refusal in refusals]
    if remaining < smallest:
        waited_for.append(_when_fits(limit, spent, smallest))
    return Rejection("amount.above_day_later", limit=limit, again=max(waited_for))


def _spent(orders: Sequence[Order], now: datetime) -> list[tuple[datetime, int]]:
    """Return until when each order counts towards the day's sum, and with how many rupiah, in order of time."""
    counted = [(_counts_until(order), order.idr or order.expected_idr) for order in orders]
    return sorted((until, rupiah) for until, rupiah in counted if until is not None and now < until)


def _counts_until(order: Order) -> datetime | None:
    if order.is_paid:
        return max(order.created_at, order.paid_at or order.created_at) + DAY
    if order.phase in MAY_BE_PAID and not order.is_ended:
        return payable_until(order)
    return None


def _when_fits(limit: int, spent: list[tuple[datetime, int]], idr: int) -> datetime:
    """Return when so much of the day's sum has stopped counting that `idr` fits."""
    total = sum(rupiah for _, rupiah in spent)
    for until, rupiah in spent:
        total -= rupiah
        if total + idr <= limit:
            return until
    raise ValueError("the sum fits into no day")


def _again(refusal: Rejection) -> datetime:
    again = refusal.arguments["again"]
    if not isinstance(again, datetime):
        raise TypeError("a refusal that says no time")
    return again

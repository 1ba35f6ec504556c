"""The limits of one payer: unpaid orders at once, orders an hour, and rupiah a day. Links have limits of their own.

Which orders count:

unpaid at once      orders that can still be paid. These are intents in progress or not found yet, prices that wait for
                    an answer, and shown invoices until they are paid, failed or expired. An invoice without an expiry
                    counts for a day.
orders an hour      every attempt, because each was a request to the service, even if the service rejected it.
rupiah a day        orders that can still be paid, and paid orders for 24 hours after the payment, however they ended.
                    A deposit without expiry can be paid for a week. Orders that were rejected, abandoned or have
                    expired unpaid don't count.

An hour is the last 60 minutes, and a day the last 24 hours. So each order stops counting at a known time. A rejection
says when the user can order again.

Links are open to anyone, so many payers can create many orders at once. An order whose answer was lost, and other
programs' deposits, are found only among the newest 100 orders of the service's list. Each order that is created pushes
another one out of it. So all links together, and each of them, create only a few orders within `LINK_SPAN`. Browsers
get less than half of them, so payers in Telegram always find their share.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.core.errors import Rejection
from bot.core.money import AmountRejected
from bot.orders.order import NOT_ENDED, Order
from bot.orders.poll_intervals import payable_until

LINK_SPAN = timedelta(seconds=100)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
YOUNG = timedelta(minutes=10)
MAX_YOUNG = 5
"""How many unpaid orders of browsers that are younger than `YOUNG` a link has. A second press is the same order."""


@dataclass(frozen=True, slots=True)
class AmountLimits:
    """The minimum and maximum of one order, in whole rupiah. `maximum` is None if there is no cap.

    They are checked with the amount of the quote, and again with the amount that the service has locked.
    """

    minimum: int
    maximum: int | None

    def is_below(self, idr: int) -> bool:
        """Return whether `idr` is below the minimum."""
        return idr < self.minimum

    def is_above(self, idr: int) -> bool:
        """Return whether `idr` is above the destination's cap."""
        return self.maximum is not None and idr > self.maximum

    def allow(self, idr: int) -> bool:
        """Return whether an order of `idr` rupiah is within the limits."""
        return not (self.is_below(idr) or self.is_above(idr))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one user. 0 means no limit."""

    open_orders: int = 0
    orders_per_hour: int = 0
    idr_per_day: int = 0

    @property
    def is_unlimited(self) -> bool:
        """Whether there is no limit at all."""
        return not (self.open_orders or self.orders_per_hour or self.idr_per_day)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkLimits:
    """How many orders are created from links within any `LINK_SPAN`, and how many of them by browsers. 0: no limit."""

    from_all: int = 0
    from_one: int = 0
    browsers_from_all: int = 0
    browsers_from_one: int = 0

    @property
    def is_unlimited(self) -> bool:
        """Whether there is no limit at all."""
        return not (self.from_all or self.from_one)

    @property
    def of_browsers(self) -> "LinkLimits":
        """The limits of browsers alone."""
        return LinkLimits(from_all=self.browsers_from_all, from_one=self.browsers_from_one)


class TooManyFromLinks(Rejection):
    """Links have just created as many orders as they may. The payer can try again in a minute."""


class LimitReached(Rejection):
    """One of the user's own limits doesn't allow the order now.

    Attributes:
        again: when the order is possible, if no other order changes until then.
    """

    def __init__(self, key: str, /, *, again: datetime, **arguments: object) -> None:
        super().__init__(key, **arguments, again=again)
        self.again = again


class TooManyOrders(LimitReached):
    """The user has too many orders. Only time can lift this, and no other amount.

    Attributes:
        unpaid: the unpaid orders, if they are too many.
    """

    unpaid: Sequence[Order] = ()


class DailyLimitReached(LimitReached, AmountRejected):
    """The amount is above what is left of the user's day."""


def can_still_be_paid(order: Order, now: datetime) -> bool:
    """Return whether `order` is unpaid and can still be paid."""
    is_possible = order.phase in NOT_ENDED and not order.is_paid and not order.is_ended
    return is_possible and now < order.offer_ends_at


def check_links(limits: LinkLimits, created: Mapping[str, int], origin: str) -> None:
    """Check whether another order can be created from the link `origin` now.

    Raises:
        TooManyFromLinks: too many were created within `LINK_SPAN`. `created` has how many, by their links.
    """
    is_full = bool(limits.from_all) and sum(created.values()) >= limits.from_all
    if is_full or (limits.from_one and created.get(origin, 0) >= limits.from_one):
        raise TooManyFromLinks("orders.limits.links")


def check(limits: Limits, orders: Sequence[Order], idr: int, now: datetime, *, smallest: int) -> None:
    """Check whether an order of `idr` rupiah is possible now.

    An amount above the daily limit is never possible. Its rejection has the largest amount that is possible now
    (`remaining`), or else says when any amount will be possible.

    Raises:
        LimitReached: not now. If another amount is possible, the rejection has the largest one (`remaining`).
        AmountRejected: the amount is above the daily limit.

    Args:
        limits: the user's limits.
        orders: the user's orders that may count (`OrderRepository.counted_by_limits`).
        idr: the amount of the new order.
        now: the current time.
        smallest: the minimum of any order, in rupiah.
    """
    rejections: list[LimitReached] = [*_rejections_of_count(limits, orders, now)]
    limit = limits.idr_per_day
    if limit and idr > limit:
        raise _above_daily_limit(limit, _spent(orders, now), rejections, smallest)
    if limit and (
        rejection := _rejection_of_sum(limit, _spent(orders, now), idr, smallest, is_less_possible=not rejections)
    ):
        rejections.append(rejection)
    if rejections:
        raise max(rejections, key=_available_at)


def _rejections_of_count(limits: Limits, orders: Sequence[Order], now: datetime) -> list[TooManyOrders]:
    unpaid = [order for order in orders if can_still_be_paid(order, now)]
    counted_until = [order.created_at + HOUR for order in orders if now < order.created_at + HOUR]
    too_many = _rejection_of_count("orders.limits.open", limits.open_orders, [order.offer_ends_at for order in unpaid])
    if too_many is not None:
        too_many.unpaid = unpaid
    found = (too_many, _rejection_of_count("orders.limits.hour", limits.orders_per_hour, counted_until))
    return [rejection for rejection in found if rejection is not None]


def _rejection_of_count(key: str, limit: int, ends: list[datetime]) -> TooManyOrders | None:
    if not limit or len(ends) < limit:
        return None
    return TooManyOrders(key, count=len(ends), again=sorted(ends)[len(ends) - limit])


def _rejection_of_sum(
    limit: int, spent: list[tuple[datetime, int]], idr: int, smallest: int, *, is_less_possible: bool
) -> DailyLimitReached | None:
    remaining = limit - sum(rupiah for _, rupiah in spent)
    if idr <= remaining:
        return None
    again = _time_when_possible(limit, spent, idr)
    if is_less_possible and remaining >= smallest:
        return DailyLimitReached("orders.amount.day_remaining", limit=limit, remaining=remaining, again=again)
    return DailyLimitReached("orders.amount.day_full", limit=limit, again=again)


def _above_daily_limit(
    limit: int, spent: list[tuple[datetime, int]], rejections: list[LimitReached], smallest: int
) -> AmountRejected:
    remaining = limit - sum(rupiah for _, rupiah in spent)
    if remaining >= smallest and not rejections:
        return AmountRejected("orders.amount.above_day", limit=limit, remaining=remaining)
    times = [_available_at(rejection) for rejection in rejections]
    if remaining < smallest:
        times.append(_time_when_possible(limit, spent, smallest))
    return DailyLimitReached("orders.amount.above_day_later", limit=limit, again=max(times))


def _spent(orders: Sequence[Order], now: datetime) -> list[tuple[datetime, int]]:
    """Return until when each order counts towards the daily limit, and its rupiah, sorted by time."""
    counted = [(_counts_until(order), order.idr or order.expected_idr) for order in orders]
    return sorted((until, rupiah) for until, rupiah in counted if until is not None and now < until)


def _counts_until(order: Order) -> datetime | None:
    if order.is_paid:
        return max(order.created_at, order.paid_at or order.created_at) + DAY
    if order.phase in NOT_ENDED and not order.is_ended:
        return payable_until(order)
    return None


def _time_when_possible(limit: int, spent: list[tuple[datetime, int]], idr: int) -> datetime:
    """Return when enough orders have stopped counting that `idr` rupiah are possible."""
    total = sum(rupiah for _, rupiah in spent)
    for until, rupiah in spent:
        total -= rupiah
        if total + idr <= limit:
            return until
    raise ValueError("the amount is above the daily limit")


def _available_at(rejection: LimitReached) -> datetime:
    return rejection.again

"""Values of statistics: outcomes of orders, counts of a period, and orders without personal data."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from bot.settlement.model import PayoutMethod
from bot.support.model import TicketStatistics


class OrderOutcome(StrEnum):
    """The outcome of an order in statistics. Each order has exactly one."""

    WAITING = "waiting"  # it can still be paid
    UNDER_WAY = "under_way"  # paid, and not ended
    SENT = "sent"
    FAILED = "failed"  # paid, but the payout failed
    UNPAID = "unpaid"  # expired or abandoned, without a payment
    FAILED_UNKNOWN = "failed_unknown"  # a failed deposit that may have been paid
    PRICE_CHANGED = "held"  # the price changed, and the user hasn't confirmed it
    UNCERTAIN = "uncertain"  # it isn't known whether the service created the order
    REFUSED = "refused"  # the service didn't create the order
    CLOSED = "closed"  # the invoice was never shown


PAID = frozenset({OrderOutcome.UNDER_WAY, OrderOutcome.SENT, OrderOutcome.FAILED})
"""Outcomes of orders that were surely paid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The number of orders, and their sums."""

    orders: int = 0
    idr: int = 0
    sats: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(orders=self.orders + other.orders, idr=self.idr + other.idr, sats=self.sats + other.sats)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderStatistics:
    """Orders placed in a period, by its parts (`Span.parts`) and their outcomes.

    `median` is the time from the payment to the end of the `timed` orders that were sent, None if there are none. An
    order that was already sent when its payment was first seen has no such time.
    """

    parts: tuple[dict[OrderOutcome, Tally], ...]
    median: timedelta | None
    timed: int

    @property
    def by_outcome(self) -> dict[OrderOutcome, Tally]:
        """The sums of all parts, without outcomes that no order has."""
        return {outcome: tally for outcome in OrderOutcome if (tally := self._sum({outcome})).orders}

    @property
    def placed(self) -> Tally:
        """The sum of all orders."""
        return self._sum(frozenset(OrderOutcome))

    @property
    def paid(self) -> Tally:
        """The sum of all paid orders."""
        return self._sum(PAID)

    def paid_by_part(self) -> tuple[Tally, ...]:
        """Return the sum of the paid orders in each part."""
        return tuple(_sum_of(part, PAID) for part in self.parts)

    def _sum(self, outcomes: frozenset[OrderOutcome] | set[OrderOutcome]) -> Tally:
        return sum((_sum_of(part, outcomes) for part in self.parts), Tally())


def _sum_of(part: dict[OrderOutcome, Tally], outcomes: frozenset[OrderOutcome] | set[OrderOutcome]) -> Tally:
    return sum((tally for outcome, tally in part.items() if outcome in outcomes), Tally())


@dataclass(frozen=True, slots=True, kw_only=True)
class UserStatistics:
    """All users, and the new users of a period.

    `active` is how many used the bot in the period, to the day. `ordered` and `paid` are how many of the new users did
    so at any time since.
    """

    known: int
    away: int
    active: int
    new: int
    ordered: int
    paid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriberStatistics:
    """Subscribers of rate updates: all, new ones, those with a daily quote, and open price alerts."""

    total: int
    new: int
    daily: int
    alerts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFigures:
    """The payment requests that aren't closed, and the orders that links have made lately, by where they are paid."""

    open: int = 0
    in_telegram: int = 0
    in_browsers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestStatistics:
    """The new payment requests of a period, and its payments by their links."""

    new: int = 0
    paid: int = 0

    @property
    def has_any(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.new or self.paid)


@dataclass(frozen=True, slots=True, kw_only=True)
class BotStatistics:
    """The bot's own statistics of a period."""

    users: UserStatistics
    subscribers: SubscriberStatistics
    orders: OrderStatistics
    tickets: TicketStatistics = field(default_factory=TicketStatistics)
    requests: RequestStatistics = field(default_factory=RequestStatistics)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTotals:
    """All orders of the bot since its first: how many the service has created, and those that were sent."""

    created: int
    sent: Tally


def calculate_share(part: int, whole: int) -> int:
    """Return `part` of `whole` in hundredths of a percent, rounded. Return 0 if `whole` is 0."""
    return (2 * part * 10_000 + whole) // (2 * whole) if whole else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderLine:
    """An order in an export, without account number, name, user and chat.

    The amounts are those that the service locked.
    """

    reference: str
    service_id: str | None
    created_at: datetime
    paid_at: datetime | None
    ended_at: datetime | None
    outcome: OrderOutcome
    state: str
    method: PayoutMethod
    channel: str
    idr: int
    sats: int
    btc_idr: Decimal | None

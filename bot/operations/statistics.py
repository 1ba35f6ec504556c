"""What is counted: outcomes of orders, the statistics of a period, and orders without anything personal."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from bot.orders.order import UNCERTAIN_PHASES, Failure, Order, Phase
from bot.settlement.model import PayoutMethod
from bot.settlement.steps import COMPLETED
from bot.support.ticket_statistics import TicketStatistics


class Outcome(StrEnum):
    """The outcome of an order, as operators count it: each order has exactly one."""

    WAITING = "waiting"  # it can still be paid
    UNDER_WAY = "under_way"  # paid, and not at its end
    SENT = "sent"
    FAILED = "failed"  # although it was paid
    UNPAID = "unpaid"  # expired, or given up: no payment was seen
    FAILED_UNKNOWN = "failed_unknown"  # a deposit that failed: whether it was paid isn't known
    PRICE_CHANGED = "held"  # the price moved, and nobody has agreed yet
    UNCERTAIN = "uncertain"  # whether the service made it isn't known
    REFUSED = "refused"  # the service didn't make it
    CLOSED = "closed"  # its invoice was never shown


PAID = frozenset({Outcome.UNDER_WAY, Outcome.SENT, Outcome.FAILED})
"""The outcomes of orders that are known to have been paid."""

_OUTCOME_OF_FAILURE = {
    Failure.PAID: Outcome.FAILED,
    Failure.UNPAID: Outcome.UNPAID,
    Failure.UNKNOWN: Outcome.FAILED_UNKNOWN,
}

_OUTCOME_OF_PHASE = {
    Phase.REFUSED: Outcome.REFUSED,
    Phase.ABANDONED: Outcome.CLOSED,
    Phase.NEEDS_CONFIRMATION: Outcome.PRICE_CHANGED,
    Phase.DONE: Outcome.UNPAID,
    **dict.fromkeys(UNCERTAIN_PHASES, Outcome.UNCERTAIN),
}
"""Phase -> outcome of an order that was neither paid nor ended. An open one can be paid until its expiry is told."""


def find_outcome(order: Order) -> Outcome:
    """Return the outcome of an order. `operations/statistics_repository.py` says the same in SQL."""
    if order.state == COMPLETED:
        return Outcome.SENT
    if order.failure is not None:
        return _OUTCOME_OF_FAILURE[order.failure]
    if order.is_paid:
        return Outcome.UNDER_WAY
    return _OUTCOME_OF_PHASE.get(order.phase, Outcome.UNPAID if order.expiry_notified else Outcome.WAITING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Orders with the same outcome: how many, and their sums."""

    orders: int = 0
    idr: int = 0
    sats: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(orders=self.orders + other.orders, idr=self.idr + other.idr, sats=self.sats + other.sats)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderStatistics:
    """Orders placed within a period, by its parts (`Span.parts`) and their outcomes.

    `median` is the time from the payment to the end of the `timed` orders that were sent, None where there are none.
    It isn't known for an order that was first seen paid when it had been sent already.
    """

    parts: tuple[dict[Outcome, Tally], ...]
    median: timedelta | None
    timed: int

    @property
    def by_outcome(self) -> dict[Outcome, Tally]:
        """Return the sums of all parts, without outcomes that no order has."""
        return {outcome: tally for outcome in Outcome if (tally := self._sum({outcome})).orders}

    @property
    def placed(self) -> Tally:
        """Return the sum of all orders."""
        return self._sum(frozenset(Outcome))

    @property
    def paid(self) -> Tally:
        """Return the sum of the orders that were paid, whatever their outcome."""
        return self._sum(PAID)

    def paid_by_part(self) -> tuple[Tally, ...]:
        """Return the sum of the paid orders in each part."""
        return tuple(_sum_of(part, PAID) for part in self.parts)

    def _sum(self, outcomes: frozenset[Outcome] | set[Outcome]) -> Tally:
        return sum((_sum_of(part, outcomes) for part in self.parts), Tally())


def _sum_of(part: dict[Outcome, Tally], outcomes: frozenset[Outcome] | set[Outcome]) -> Tally:
    return sum((tally for outcome, tally in part.items() if outcome in outcomes), Tally())


@dataclass(frozen=True, slots=True, kw_only=True)
class UserStatistics:
    """All users that the bot knows, and what those who came within a period did.

    `active` used the bot within the period (to a day). `ordered` and `paid` are those of the new ones who did so at
    any time since.
    """

    known: int
    away: int
    active: int
    new: int
    ordered: int
    paid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriberStatistics:
    """Subscribers to the rate: all, new ones, those with a daily quote; and price alerts that haven't expired."""

    total: int
    new: int
    daily: int
    alerts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BotStatistics:
    """The bot's own statistics of one period."""

    users: UserStatistics
    subscribers: SubscriberStatistics
    orders: OrderStatistics
    tickets: TicketStatistics = field(default_factory=TicketStatistics)


def calculate_share(part: int, whole: int) -> int:
    """Return `part` of `whole` in hundredths of a percent, rounded; 0 where `whole` is 0."""
    return (2 * part * 10_000 + whole) // (2 * whole) if whole else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderLine:
    """An order as it can be exported: without number, name, user and chat. Amounts are the locked ones."""

    reference: str
    service_id: str | None
    created_at: datetime
    paid_at: datetime | None
    ended_at: datetime | None
    outcome: Outcome
    state: str
    method: PayoutMethod
    channel: str
    idr: int
    sats: int
    btc_idr: Decimal | None

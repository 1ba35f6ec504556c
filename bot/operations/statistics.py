"""What is counted: how an order turned out, over which time, and the figures of that time."""

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from bot.orders.order import LOOKED_FOR, Failure, Order, Phase
from bot.settlement.steps import COMPLETED
from bot.support.ticket_statistics import TicketStatistics


class Outcome(StrEnum):
    """How an order stands, as operators count it: each order is exactly one of these."""

    WAITING = "waiting"  # it can still be paid
    UNDER_WAY = "under_way"  # paid, and not at its end
    SENT = "sent"
    FAILED = "failed"  # although it was paid
    UNPAID = "unpaid"  # expired, or given up: no payment was seen
    FAILED_UNKNOWN = "failed_unknown"  # a deposit that failed: whether it was paid isn't known
    HELD = "held"  # the price moved, and nobody has agreed yet
    UNCERTAIN = "uncertain"  # whether the service made it isn't known
    REFUSED = "refused"  # the service didn't make it
    CLOSED = "closed"  # its invoice was never shown


PAID = frozenset({Outcome.UNDER_WAY, Outcome.SENT, Outcome.FAILED})
"""Those whose payers' money is known to have come in."""

_OF_FAILURE = {
    Failure.PAID: Outcome.FAILED,
    Failure.UNPAID: Outcome.UNPAID,
    Failure.UNKNOWN: Outcome.FAILED_UNKNOWN,
}

_OF_PHASE = {
    Phase.REFUSED: Outcome.REFUSED,
    Phase.UNSHOWN: Outcome.CLOSED,
    Phase.HELD: Outcome.HELD,
    Phase.DONE: Outcome.UNPAID,
    **dict.fromkeys(LOOKED_FOR, Outcome.UNCERTAIN),
}
"""What an order is that was neither paid nor ended; an open one can be paid until its expiry was told."""


def outcome_of(order: Order) -> Outcome:
    """How `order` stands. `operations/statistics_repository.py` says the same in SQL."""
    if order.state == COMPLETED:
        return Outcome.SENT
    if order.failure is not None:
        return _OF_FAILURE[order.failure]
    if order.is_paid:
        return Outcome.UNDER_WAY
    return _OF_PHASE.get(order.phase, Outcome.UNPAID if order.expiry_told else Outcome.WAITING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Orders that turned out alike: how many, and what they came to together."""

    orders: int = 0
    idr: int = 0
    sats: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(orders=self.orders + other.orders, idr=self.idr + other.idr, sats=self.sats + other.sats)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFigures:
    """Orders placed within a time, by its parts (`Span.parts`) and by how they turned out.

    `median` is how long it took from the payment to the end of those that were sent, None where `timed` is 0: of an
    order that was first seen paid when it had been sent already, nobody knows.
    """

    parts: tuple[dict[Outcome, Tally], ...]
    median: timedelta | None
    timed: int

    @property
    def by_outcome(self) -> dict[Outcome, Tally]:
        """All parts together; an outcome that no order has isn't there."""
        return {outcome: tally for outcome in Outcome if (tally := self._sum({outcome})).orders}

    @property
    def placed(self) -> Tally:
        """All of them."""
        return self._sum(frozenset(Outcome))

    @property
    def paid(self) -> Tally:
        """Those whose payers' money came in, whatever became of it."""
        return self._sum(PAID)

    def paid_by_part(self) -> tuple[Tally, ...]:
        """The same, part by part."""
        return tuple(_sum_of(part, PAID) for part in self.parts)

    def _sum(self, outcomes: frozenset[Outcome] | set[Outcome]) -> Tally:
        return sum((_sum_of(part, outcomes) for part in self.parts), Tally())


def _sum_of(part: dict[Outcome, Tally], outcomes: frozenset[Outcome] | set[Outcome]) -> Tally:
    return sum((tally for outcome, tally in part.items() if outcome in outcomes), Tally())


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleFigures:
    """Persons: all whom the bot knows, and those who came within a time with how far they got.

    `active` have been here within that time (to a day); `ordered` and `paid` are those of the new ones who did so
    at any time since.
    """

    known: int
    away: int
    active: int
    new: int
    ordered: int
    paid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriberFigures:
    """Subscribers to the rate: all, new ones, those with a daily quote; and alerts that may ring."""

    total: int
    new: int
    daily: int
    alerts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFigures:
    """The bot's own figures of one time."""

    people: PeopleFigures
    subscribers: SubscriberFigures
    orders: OrderFigures
    tickets: TicketStatistics = field(default_factory=TicketStatistics)


def share(part: int, whole: int) -> int:
    """`part` of `whole` in hundredths of a percent, to the nearest; 0 of nothing."""
    return (2 * part * 10_000 + whole) // (2 * whole) if whole else 0

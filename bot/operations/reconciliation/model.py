"""Values of a reconciliation: what it compared, and what it found."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Final

from bot.orders.deposits import LONGEST_LIST
from bot.staff.model import AlarmKind


class DifferenceKind(StrEnum):
    """How the service's record of an order differs from our row."""

    MISSING = "missing"  # we have an order that the service doesn't have
    AMOUNT = "amount"
    STATE = "state"
    UNFOLLOWED = "unfollowed"  # paid, as the service says, and we no longer poll it
    SHARED_DEPOSIT = "shared_deposit"  # one deposit could pay two orders


ALARM_OF: Final = {
    DifferenceKind.MISSING: AlarmKind.ORDER_MISSING,
    DifferenceKind.AMOUNT: AlarmKind.AMOUNT_DIFFERS,
    DifferenceKind.STATE: AlarmKind.STATE_DIFFERS,
    DifferenceKind.UNFOLLOWED: AlarmKind.PAID_UNFOLLOWED,
    DifferenceKind.SHARED_DEPOSIT: AlarmKind.DEPOSIT_SHARED,
}
"""The alarm about a difference that concerns money."""


@dataclass(frozen=True, slots=True)
class Facts:
    """State and amounts of one order, by our row or by the service's record. Unknown amounts are None."""

    state: str
    idr: int | None
    sats: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference of one order.

    Attributes:
        theirs: the service's facts, or None if it doesn't have the order.
        is_about_money: whether money was taken or sent, or can still be. Then operators get an alarm.
        other: the service's id of the other order that the same deposit could pay, or "".
        found_at: when a reconciliation first found it.
        checked_at: when its order was last read from the service.
    """

    kind: DifferenceKind
    reference: str
    service_id: str
    ours: Facts
    theirs: Facts | None
    is_about_money: bool
    other: str = ""
    found_at: datetime
    checked_at: datetime

    @property
    def key(self) -> tuple[DifferenceKind, str]:
        """What stays the same while the difference lasts."""
        return self.kind, self.reference


@dataclass(frozen=True, slots=True)
class Pending:
    """A state of the service that our row doesn't have yet. The poller may be about to read it.

    `since` is when a reconciliation first saw it.
    """

    reference: str
    state: str
    since: datetime


@dataclass(frozen=True, slots=True)
class ListedSpan:
    """A time, by our own clock. Every order of the service that was created in it was in a list."""

    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One reconciliation.

    Attributes:
        asked_at: when the list was requested. It is also the order of runs.
        listed: how many orders the list had.
        ours: how many of them have a row.
        others: how many of them other programs with our key created, as far as we know.
        uncertain: our orders of that time of which we don't know yet whether the service created them.
        unlisted: our orders that weren't in the list, although the service has them.
        unchecked: suspected differences that couldn't be checked.
        shown: the time of which the list had every order, or None if it proves nothing about a time.
        next_at: when the next run is due.
    """

    asked_at: datetime
    listed: int
    ours: int = 0
    others: int = 0
    uncertain: int = 0
    unlisted: int = 0
    unchecked: int = 0
    shown: ListedSpan | None = None
    next_at: datetime
    differences: tuple[Difference, ...] = ()
    pending: tuple[Pending, ...] = ()

    @property
    def is_conclusive(self) -> bool:
        """Whether the list is a full one. A shorter or empty one can be all that a troubled service answers."""
        return self.listed >= LONGEST_LIST


@dataclass(frozen=True, slots=True)
class UnseenSpan:
    """A time that no list has shown, and how many of our orders were created in it."""

    span: ListedSpan
    ours: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What `/reconcile` shows: the newest run, and the times that no list has shown since `known_since`."""

    run: Run | None
    unseen: tuple[UnseenSpan, ...] = ()
    known_since: datetime | None = None
    not_alarmed: int = 0
    """Differences about money without an alarm of their own, because there are too many at once."""


def find_unseen(spans: tuple[ListedSpan, ...]) -> tuple[ListedSpan, ...]:
    """Return the times between these spans, which are sorted and don't overlap."""
    return tuple(ListedSpan(before.until, after.since) for before, after in pairwise(spans))


def merge_spans(spans: tuple[ListedSpan, ...], new: ListedSpan) -> tuple[ListedSpan, ...]:
    """Return the spans with a new one. Those that overlap become one."""
    merged: list[ListedSpan] = []
    for span in sorted((*spans, new), key=lambda each: each.since):
        if merged and span.since <= merged[-1].until:
            merged[-1] = ListedSpan(merged[-1].since, max(merged[-1].until, span.until))
        else:
            merged.append(span)
    return tuple(merged)


@dataclass(frozen=True, slots=True)
class Reading:
    """When a record was read from the service, by our own clock, and how far the service's clock is ahead of ours."""

    asked_at: datetime
    answered_at: datetime
    offset: timedelta = field(default=timedelta(0))

"""A ticket: somebody asks for a person, or a paid order went wrong, and it stays open until support has closed it.

Pure: each step gives the ticket as it is afterwards, or raises what the one who tried it is told.
"""

import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.core.errors import Rejection
from bot.orders.order import REFERENCE_ALPHABET

PREFIX = "T-"
REFERENCE_LENGTH = 5


class Cause(StrEnum):
    """Why a ticket was opened."""

    ASKED = "asked"  # by its person
    FAILED = "failed"  # by itself: a paid order failed
    STUCK = "stuck"  # by itself: a paid order takes too long


class TicketStatus(StrEnum):
    """Whether support still has something to do."""

    OPEN = "open"
    CLOSED = "closed"


class CloseReason(StrEnum):
    """Why support closed it; its person is told."""

    SOLVED = "solved"
    NO_WORD = "no_word"  # the person didn't answer any more
    DOUBLE = "double"  # another ticket is about the same
    ELSEWHERE = "elsewhere"  # it is somebody else's to solve (the bank, the wallet)


class Rating(StrEnum):
    """What the person thinks of the help."""

    GOOD = "good"
    BAD = "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """One matter of one person; `order_reference` is empty where it is about no order.

    `waits_since` is the time of the person's first word (or of the failure) that nobody has answered yet; None once
    somebody has. `reminded_at` and `escalated_at` are of that wait alone.
    """

    reference: str
    person_id: int
    order_reference: str = ""
    cause: Cause = Cause.ASKED
    status: TicketStatus = TicketStatus.OPEN
    created_at: datetime
    version: int = 0
    claimed_by: int | None = None
    claimed_at: datetime | None = None
    waits_since: datetime | None = None
    reminded_at: datetime | None = None
    escalated_at: datetime | None = None
    first_answer_at: datetime | None = None
    closed_at: datetime | None = None
    closed_by: int | None = None
    close_reason: CloseReason | None = None
    reopened: int = 0
    rating: Rating | None = None
    rated_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Whether support still has something to do."""
        return self.status is TicketStatus.OPEN

    def may_be_reopened(self, now: datetime, within: timedelta) -> bool:
        """Whether its person may say that it isn't over."""
        return not self.is_open and self.closed_at is not None and now < self.closed_at + within


def new_ticket_reference() -> str:
    """A short name that can be told from an order's: "T-4F7K2"."""
    return PREFIX + "".join(secrets.choice(REFERENCE_ALPHABET) for _ in range(REFERENCE_LENGTH))


def opened(person_id: int, now: datetime, *, order_reference: str = "", cause: Cause = Cause.ASKED) -> Ticket:
    """A new ticket, which waits for an answer from now on."""
    return Ticket(
        reference=new_ticket_reference(),
        person_id=person_id,
        order_reference=order_reference,
        cause=cause,
        created_at=now,
        waits_since=now,
    )


def asked(ticket: Ticket, now: datetime) -> Ticket:
    """After another word of its person, who waits since the first one that wasn't answered."""
    _must_be_open(ticket)
    return ticket if ticket.waits_since else replace(ticket, waits_since=now, reminded_at=None, escalated_at=None)


def claimed(ticket: Ticket, by: int, now: datetime) -> Ticket:
    """After `by` has taken it on; who holds it already keeps it.

    Raises:
        Rejection: it is closed, or somebody else holds it.
    """
    _must_be_open(ticket)
    if ticket.claimed_by is not None and ticket.claimed_by != by:
        raise Rejection("ticket.held_by_another")
    return ticket if ticket.claimed_by == by else replace(ticket, claimed_by=by, claimed_at=now)


def taken_over(ticket: Ticket, by: int, now: datetime) -> Ticket:
    """After `by` has taken it from whoever held it. Raises `Rejection` where it is closed."""
    _must_be_open(ticket)
    return replace(ticket, claimed_by=by, claimed_at=now)


def answered(ticket: Ticket, by: int, now: datetime) -> Ticket:
    """After an answer of `by`, which claims a ticket that nobody holds. Raises as `claimed` does."""
    held = claimed(ticket, by, now)
    first = held.first_answer_at or now
    return replace(held, first_answer_at=first, waits_since=None, reminded_at=None, escalated_at=None)


def closed(ticket: Ticket, by: int, reason: CloseReason, now: datetime) -> Ticket:
    """After `by` has closed it. Raises as `claimed` does."""
    held = claimed(ticket, by, now)
    return replace(held, status=TicketStatus.CLOSED, closed_at=now, closed_by=by, close_reason=reason, waits_since=None)


def reopened(ticket: Ticket, now: datetime, within: timedelta) -> Ticket:
    """After its person has said that it isn't over; who held it holds it still.

    Raises:
        Rejection: too long ago, or it is open.
    """
    if not ticket.may_be_reopened(now, within):
        raise Rejection("ticket.open_already" if ticket.is_open else "ticket.closed_too_long_ago")
    return replace(
        ticket,
        status=TicketStatus.OPEN,
        closed_at=None,
        closed_by=None,
        close_reason=None,
        waits_since=now,
        reminded_at=None,
        escalated_at=None,
        reopened=ticket.reopened + 1,
        rating=None,
        rated_at=None,
    )


def rated(ticket: Ticket, rating: Rating, now: datetime) -> Ticket:
    """After its person has said how the help was; they may change their mind as long as it is closed."""
    if ticket.is_open:
        raise Rejection("ticket.still_open")
    return replace(ticket, rating=rating, rated_at=now)


def _must_be_open(ticket: Ticket) -> None:
    if not ticket.is_open:
        raise Rejection("ticket.closed")

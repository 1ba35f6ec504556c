"""A ticket: one matter of one user with support, open until support has closed it.

Users open tickets, and a paid order that went wrong opens one. Each change returns the ticket as it is afterwards.
"""

import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Self

from bot.core.errors import Rejection
from bot.orders.order import REFERENCE_ALPHABET

PREFIX = "T-"
REFERENCE_LENGTH = 5


class Cause(StrEnum):
    """Why a ticket was opened."""

    ASKED = "asked"  # its user asked support
    FAILED = "failed"  # a paid order failed
    STUCK = "stuck"  # a paid order takes too long


class TicketStatus(StrEnum):
    """Whether support still has something to do."""

    OPEN = "open"
    CLOSED = "closed"


class CloseReason(StrEnum):
    """Why support closed it. Its user reads that."""

    SOLVED = "solved"
    NO_REPLY = "no_word"  # the user didn't answer any longer
    DUPLICATE = "double"  # another ticket is about the same
    ELSEWHERE = "elsewhere"  # somebody else has to solve it (the bank, the wallet)


class Rating(StrEnum):
    """What the user thinks of the help."""

    GOOD = "good"
    BAD = "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """One matter of one user.

    Attributes:
        order_reference: the order that it is about; empty if it is about none.
        waiting_since: the time of the user's first message (or of the failure) that nobody has replied to yet.
        reminded_at: when support was reminded that the user waits; None if it wasn't since `waiting_since`.
        escalated_at: the same for operators.
    """

    reference: str
    user_id: int
    order_reference: str = ""
    cause: Cause = Cause.ASKED
    status: TicketStatus = TicketStatus.OPEN
    created_at: datetime
    version: int = 0
    claimed_by: int | None = None
    claimed_at: datetime | None = None
    waiting_since: datetime | None = None
    reminded_at: datetime | None = None
    escalated_at: datetime | None = None
    first_reply_at: datetime | None = None
    closed_at: datetime | None = None
    closed_by: int | None = None
    close_reason: CloseReason | None = None
    reopen_count: int = 0
    rating: Rating | None = None
    rated_at: datetime | None = None

    @classmethod
    def open(cls, user_id: int, now: datetime, *, order_reference: str = "", cause: Cause = Cause.ASKED) -> Self:
        """Return a new ticket, which waits for a reply from now on."""
        return cls(
            reference=new_ticket_reference(),
            user_id=user_id,
            order_reference=order_reference,
            cause=cause,
            created_at=now,
            waiting_since=now,
        )

    @property
    def is_open(self) -> bool:
        """Whether support still has something to do."""
        return self.status is TicketStatus.OPEN

    def can_be_reopened(self, now: datetime, within: timedelta) -> bool:
        """Return whether its user may say that it isn't over; `within` is how long after it was closed."""
        return not self.is_open and self.closed_at is not None and now < self.closed_at + within

    def add_message(self, now: datetime) -> Self:
        """Return it after another message of its user, who waits since the first one without a reply.

        Raises:
            Rejection: it is closed.
        """
        self._check_is_open()
        return self if self.waiting_since else replace(self, waiting_since=now, reminded_at=None, escalated_at=None)

    def claim(self, by: int, now: datetime) -> Self:
        """Return it after `by` has claimed it. Who holds it already keeps it.

        Raises:
            Rejection: it is closed, or another agent holds it.
        """
        self._check_is_open()
        if self.claimed_by is not None and self.claimed_by != by:
            raise Rejection("ticket.held_by_another")
        return self if self.claimed_by == by else replace(self, claimed_by=by, claimed_at=now)

    def take_over(self, by: int, now: datetime) -> Self:
        """Return it after `by` has taken it from the agent who held it.

        Raises:
            Rejection: it is closed.
        """
        self._check_is_open()
        return replace(self, claimed_by=by, claimed_at=now)

    def record_reply(self, by: int, now: datetime) -> Self:
        """Return it after a reply of `by`, which claims a ticket that nobody holds. Raise as `claim` does."""
        held = self.claim(by, now)
        first = held.first_reply_at or now
        return replace(held, first_reply_at=first, waiting_since=None, reminded_at=None, escalated_at=None)

    def close(self, by: int, reason: CloseReason, now: datetime) -> Self:
        """Return it after `by` has closed it. Raise as `claim` does."""
        return replace(
            self.claim(by, now),
            status=TicketStatus.CLOSED,
            closed_at=now,
            closed_by=by,
            close_reason=reason,
            waiting_since=None,
        )

    def reopen(self, now: datetime, within: timedelta) -> Self:
        """Return it open again. Who held it still holds it.

        Raises:
            Rejection: it was closed longer ago than `within`, or it is open.
        """
        if not self.can_be_reopened(now, within):
            raise Rejection("ticket.open_already" if self.is_open else "ticket.closed_too_long_ago")
        return replace(
            self,
            status=TicketStatus.OPEN,
            closed_at=None,
            closed_by=None,
            close_reason=None,
            waiting_since=now,
            reminded_at=None,
            escalated_at=None,
            reopen_count=self.reopen_count + 1,
            rating=None,
            rated_at=None,
        )

    def rate(self, rating: Rating, now: datetime) -> Self:
        """Return it with what its user thinks of the help. They can change that as long as it is closed.

        Raises:
            Rejection: it is open.
        """
        if self.is_open:
            raise Rejection("ticket.still_open")
        return replace(self, rating=rating, rated_at=now)

    def _check_is_open(self) -> None:
        if not self.is_open:
            raise Rejection("ticket.closed")


def new_ticket_reference() -> str:
    """Return a random reference, such as "T-4F7K2", which can't be taken for an order's."""
    return PREFIX + "".join(secrets.choice(REFERENCE_ALPHABET) for _ in range(REFERENCE_LENGTH))

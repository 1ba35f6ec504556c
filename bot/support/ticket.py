"""A ticket: one subject of one user with support. It is open until support closes it.

Users open tickets. The bot opens one for a paid order that went wrong, and closes it if the order needs no help after
all. Each change returns a changed copy.
"""

import secrets
from collections.abc import Mapping
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
    """Whether a ticket is open."""

    OPEN = "open"
    CLOSED = "closed"


class CloseReason(StrEnum):
    """Why support closed a ticket. Its user sees the reason."""

    SOLVED = "solved"
    NO_REPLY = "no_word"  # the user stopped answering
    DUPLICATE = "double"  # another ticket is about the same
    ELSEWHERE = "elsewhere"  # a bank or a wallet has to solve it


class Rating(StrEnum):
    """How the user rates the help."""

    GOOD = "good"
    BAD = "bad"


class TicketClosed(Rejection):
    """The ticket is closed, so nothing can be added to it."""

    def __init__(self) -> None:
        super().__init__("support.ticket.closed")


class TicketHeldByAnother(Rejection):
    """Another agent holds the ticket."""

    def __init__(self) -> None:
        super().__init__("support.ticket.held_by_another")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """One subject of one user with support.

    Attributes:
        order_reference: the order that the ticket is about. Empty if it is about none.
        waiting_since: when the user wrote the oldest message without a reply, or when the order failed.
        reminded_at: when support was reminded of this wait.
        escalated_at: when operators were reminded of this wait.
        closed_by: who closed it. None if it is open, or if the bot closed it.
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
        """Return a new ticket. It waits for a reply from now on."""
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
        """Whether support hasn't closed the ticket."""
        return self.status is TicketStatus.OPEN

    @property
    def end(self) -> str:
        """Why a closed ticket was closed, as keys of texts end: "itself" if the bot closed it."""
        return "itself" if self.closed_by is None else str(self.close_reason or CloseReason.SOLVED)

    @property
    def log_fields(self) -> Mapping[str, str]:
        """What log lines about the ticket say: its reference, and that of its order."""
        return {"ticket": self.reference, **({"order": self.order_reference} if self.order_reference else {})}

    def can_be_reopened(self, now: datetime, within: timedelta) -> bool:
        """Return whether the user can reopen the ticket. `within` is how long after it was closed they can."""
        return not self.is_open and self.closed_at is not None and now < self.closed_at + within

    def add_message(self, now: datetime) -> Self:
        """Return the ticket after another message of its user.

        A user who already waits keeps waiting since their first message.

        Raises:
            TicketClosed: it has to be reopened first.
        """
        self._check_is_open()
        return self if self.waiting_since else replace(self, waiting_since=now, reminded_at=None, escalated_at=None)

    def claim(self, by: int, now: datetime) -> Self:
        """Return the ticket claimed by the agent `by`, who may hold it already.

        Raises:
            TicketClosed: it can't be claimed.
            TicketHeldByAnother: another agent was faster.
        """
        self._check_is_open()
        if self.claimed_by is not None and self.claimed_by != by:
            raise TicketHeldByAnother
        return self if self.claimed_by == by else replace(self, claimed_by=by, claimed_at=now)

    def take_over(self, by: int, now: datetime) -> Self:
        """Return the ticket after `by` has taken it over from another agent.

        Raises:
            TicketClosed: it has to be reopened first.
        """
        self._check_is_open()
        return replace(self, claimed_by=by, claimed_at=now)

    def record_reply(self, by: int, now: datetime) -> Self:
        """Return the ticket after a reply of `by`. The reply claims an unclaimed ticket. Raise as `claim` does."""
        claimed = self.claim(by, now)
        first = claimed.first_reply_at or now
        return replace(claimed, first_reply_at=first, waiting_since=None, reminded_at=None, escalated_at=None)

    def close(self, by: int, reason: CloseReason, now: datetime) -> Self:
        """Return the ticket closed by `by`. Raise as `claim` does."""
        return replace(self.claim(by, now).close_itself(now), closed_by=by, close_reason=reason)

    def close_itself(self, now: datetime) -> Self:
        """Return the ticket closed by the bot, because the rupiah of its order were sent."""
        solved = CloseReason.SOLVED
        return replace(self, status=TicketStatus.CLOSED, closed_at=now, close_reason=solved, waiting_since=None)

    def reopen(self, now: datetime, within: timedelta) -> Self:
        """Return the ticket open again. Its agent stays the same.

        Raises:
            Rejection: the ticket was closed longer ago than `within`, or it is open.
        """
        if not self.can_be_reopened(now, within):
            raise Rejection("support.ticket.open_already" if self.is_open else "support.ticket.closed_too_long_ago")
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
        """Return the ticket with its user's rating. The last rating counts.

        Raises:
            Rejection: the ticket is open.
        """
        if self.is_open:
            raise Rejection("support.ticket.still_open")
        return replace(self, rating=rating, rated_at=now)

    def _check_is_open(self) -> None:
        if not self.is_open:
            raise TicketClosed


def new_ticket_reference() -> str:
    """Return a random reference, such as "T-4F7K2". It looks different from an order's reference."""
    return PREFIX + "".join(secrets.choice(REFERENCE_ALPHABET) for _ in range(REFERENCE_LENGTH))

"""How long people wait for support: whom to remind of it and when, and what is measured of it afterwards.

Times to the first answer and to the end run from a ticket's beginning; medians, since one forgotten ticket must not
hide how all the others went.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from statistics import median

from bot.core.sample_size import MIN_SAMPLES
from bot.support.ticket import Rating, Ticket


class Overdue(StrEnum):
    """Who is to hear that somebody waits for too long."""

    ROOM = "room"  # support, first
    OPERATORS = "operators"  # when support was reminded, and nothing came of it


def overdue(ticket: Ticket, now: datetime, patience: timedelta) -> Overdue | None:
    """Whom to remind now of a ticket whose person waits; each once a wait, the second as long after the first again."""
    if not ticket.is_open or ticket.waits_since is None or now < ticket.waits_since + patience:
        return None
    if ticket.reminded_at is None:
        return Overdue.ROOM
    is_long = ticket.escalated_at is None and now >= ticket.reminded_at + patience
    return Overdue.OPERATORS if is_long else None


def reminded(ticket: Ticket, of: Overdue, now: datetime) -> Ticket:
    """After they have been told."""
    return replace(ticket, reminded_at=now) if of is Overdue.ROOM else replace(ticket, escalated_at=now)


@dataclass(frozen=True, slots=True)
class TicketTimes:
    """What is measured of a ticket."""

    created_at: datetime
    first_answer_at: datetime | None
    closed_at: datetime | None
    rating: Rating | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketFigures:
    """Tickets opened within a time: how many, how long they took (medians, None of none), and what people thought."""

    opened: int = 0
    answered: int = 0
    closed: int = 0
    first_answer: timedelta | None = None
    close: timedelta | None = None
    good: int = 0
    bad: int = 0

    @property
    def usual_reply(self) -> timedelta | None:
        """Return the median time to the first answer, or None where too few tickets show it."""
        return self.first_answer if self.answered >= MIN_SAMPLES else None


def measured(tickets: Iterable[TicketTimes]) -> TicketFigures:
    """The figures of these."""
    known = list(tickets)
    answers = [each.first_answer_at - each.created_at for each in known if each.first_answer_at]
    ends = [each.closed_at - each.created_at for each in known if each.closed_at]
    ratings = [each.rating for each in known]
    return TicketFigures(
        opened=len(known),
        answered=len(answers),
        closed=len(ends),
        first_answer=_median(answers),
        close=_median(ends),
        good=ratings.count(Rating.GOOD),
        bad=ratings.count(Rating.BAD),
    )


def _median(times: list[timedelta]) -> timedelta | None:
    return timedelta(seconds=median(time.total_seconds() for time in times)) if times else None

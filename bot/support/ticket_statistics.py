"""Measure tickets: the time to the first reply, the time until they were closed, and their ratings.

Both times count from when a ticket was opened. They are medians, so that one forgotten ticket doesn't distort them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from bot.core.sample_size import MIN_SAMPLES
from bot.support.ticket import Rating


@dataclass(frozen=True, slots=True)
class TicketTimes:
    """The times and the rating of one ticket."""

    created_at: datetime
    first_reply_at: datetime | None
    closed_at: datetime | None
    rating: Rating | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketStatistics:
    """The tickets opened within a period: counts, median times, and ratings. A median of nothing is None."""

    opened: int = 0
    replied: int = 0
    closed: int = 0
    first_reply: timedelta | None = None
    close: timedelta | None = None
    good: int = 0
    bad: int = 0

    @property
    def typical_reply(self) -> timedelta | None:
        """The median time to the first reply, or None if there are too few replies."""
        return self.first_reply if self.replied >= MIN_SAMPLES else None


def measure_tickets(tickets: Iterable[TicketTimes]) -> TicketStatistics:
    """Return the statistics of these tickets."""
    known = list(tickets)
    answers = [each.first_reply_at - each.created_at for each in known if each.first_reply_at]
    ends = [each.closed_at - each.created_at for each in known if each.closed_at]
    ratings = [each.rating for each in known]
    return TicketStatistics(
        opened=len(known),
        replied=len(answers),
        closed=len(ends),
        first_reply=_median(answers),
        close=_median(ends),
        good=ratings.count(Rating.GOOD),
        bad=ratings.count(Rating.BAD),
    )


def _median(times: list[timedelta]) -> timedelta | None:
    return timedelta(seconds=median(time.total_seconds() for time in times)) if times else None

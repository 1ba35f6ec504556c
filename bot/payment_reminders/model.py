"""Payment reminders: on which day they are due, and when they are sent."""

import hashlib
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

from bot.core.time_of_day import is_quiet, next_at

MAX_REMINDERS: Final = 10
"""The maximum of reminders of one user."""

MAX_UNANSWERED: Final = 3
"""A reminder ends after so many messages that the user didn't answer."""

SPREAD: Final = timedelta(minutes=15)
"""All reminders of an hour are sent within this time, each at its own minute."""

WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MONTH_DAYS: Final = tuple(str(number) for number in range(1, 32))

QuietHours = tuple[int | None, int | None]
"""The first minute of the day that is quiet, and the first one that isn't. None for a user without quiet hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentReminder:
    """A reminder to send a sum to a saved recipient.

    Attributes:
        idr: rupiah.
        day: one of `WEEKDAYS`, or of `MONTH_DAYS`.
        due_at: when the next message is due.
        unanswered: how many messages in a row the user hasn't answered.
    """

    id: str
    user_id: int
    recipient_id: str
    idr: int
    day: str
    due_at: datetime
    unanswered: int = 0
    created_at: datetime


def form_id(user_id: int, recipient_id: str, day: str) -> str:
    """Return the id of a reminder. A user has one for a recipient and a day, however often the button is pressed."""
    return hashlib.sha256(f"{user_id}:{recipient_id}:{day}".encode()).hexdigest()[:16]


def find_next_due(reminder_id: str, day: str, hour: int, zone: tzinfo, after: datetime) -> datetime:
    """Return the first UTC time after `after` (aware) when a reminder is due: on its day, within `SPREAD` of `hour`.

    A month that is too short has the day on its last one. An hour that the clocks skip moves by as much as they skip,
    and one that occurs twice counts once.
    """
    own_minute = timedelta(seconds=int(reminder_id, 16) % int(SPREAD.total_seconds()))
    today = after.astimezone(zone).date()
    days = (today + timedelta(days=ahead) for ahead in range(32))
    moments = (
        datetime.combine(each, time(hour), zone).astimezone(UTC) + own_minute for each in days if _is_on(day, each)
    )
    return next(moment for moment in moments if moment > after)


def _is_on(day: str, today: date) -> bool:
    if day in WEEKDAYS:
        return today.weekday() == WEEKDAYS.index(day)
    return today.day == min(int(day), monthrange(today.year, today.month)[1])


def find_sending_time(due_at: datetime, now: datetime, zone: tzinfo, quiet: QuietHours) -> datetime | None:
    """Return when to send what is due: now, or at the end of the quiet hours. None if its day is over by then."""
    end = quiet[1]
    at = next_at(end, zone, now) if end is not None and is_quiet(now, zone, *quiet) else now
    return at if at.astimezone(zone).date() == due_at.astimezone(zone).date() else None

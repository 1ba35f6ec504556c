"""On which day and at which minute a reminder is due, and when it is still sent."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.time_of_day import DEFAULT_QUIET_HOURS
from bot.payment_reminders.model import MONTH_DAYS, WEEKDAYS, find_next_due, find_sending_time

JAKARTA = ZoneInfo("Asia/Jakarta")
FRIDAY = date(2026, 11, 27)
FIRST_MINUTE, LATER_MINUTE = "0" * 16, f"{7 * 60:016x}"
"""Ids of reminders that are due at the full hour, and seven minutes later."""

ZONES = tuple(
    map(
        ZoneInfo,
        (
            "America/New_York",
            "America/Santiago",  # the clocks skip midnight
            "Asia/Jakarta",
            "Asia/Kathmandu",
            "Australia/Lord_Howe",  # they move by half an hour
            "Europe/Berlin",
            "Pacific/Kiritimati",
        ),
    )
)


def at(day: date, hour: int, minute: int = 0, zone: ZoneInfo = JAKARTA) -> datetime:
    """Return a local time in UTC."""
    return datetime.combine(day, time(hour, minute), zone).astimezone(UTC)


@pytest.mark.parametrize(
    ("after", "due"),
    [
        (at(FRIDAY - timedelta(days=3), 12), at(FRIDAY, 8, 7)),
        (at(FRIDAY, 8, 6), at(FRIDAY, 8, 7)),
        (at(FRIDAY, 8, 7), at(FRIDAY + timedelta(days=7), 8, 7)),
        (at(FRIDAY, 23), at(FRIDAY + timedelta(days=7), 8, 7)),
    ],
)
def test_a_day_of_the_week_is_the_next_one_of_the_users_own(after: datetime, due: datetime) -> None:
    assert find_next_due(LATER_MINUTE, "fri", 8, JAKARTA, after) == due


@pytest.mark.parametrize(
    ("day", "after", "due"),
    [
        ("31", date(2026, 1, 31), date(2026, 2, 28)),
        ("31", date(2028, 1, 31), date(2028, 2, 29)),
        ("30", date(2026, 2, 28), date(2026, 3, 30)),
        ("31", date(2026, 4, 1), date(2026, 4, 30)),
        ("1", date(2026, 1, 1), date(2026, 2, 1)),
        ("28", date(2026, 12, 28), date(2027, 1, 28)),
    ],
)
def test_a_day_that_a_month_lacks_is_its_last_one(day: str, after: date, due: date) -> None:
    assert find_next_due(FIRST_MINUTE, day, 8, JAKARTA, at(after, 9)) == at(due, 8)


@given(st.sampled_from(ZONES), st.sampled_from((*WEEKDAYS, *MONTH_DAYS)), st.integers(0, 23), st.integers(0, 10**9))
def test_no_clock_change_skips_a_day_or_doubles_it(zone: ZoneInfo, day: str, hour: int, seconds: int) -> None:
    due = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds % 31_536_000)
    days = list[date]()
    for _ in range(60):
        due = find_next_due(LATER_MINUTE, day, hour, zone, due)
        days.append(due.astimezone(zone).date())
        clock = due.astimezone(zone)
        assert timedelta(hours=hour) <= timedelta(hours=clock.hour, minutes=clock.minute) <= timedelta(hours=hour + 1.2)
    if day in WEEKDAYS:
        assert {each.weekday() for each in days} == {WEEKDAYS.index(day)}
        assert {after - before for before, after in pairwise(days)} == {timedelta(days=7)}
    else:
        months = [each.year * 12 + each.month for each in days]
        assert months == list(range(months[0], months[0] + 60))


NO_QUIET_HOURS = (None, None)


@pytest.mark.parametrize(
    ("now", "quiet", "sent"),
    [
        (at(FRIDAY, 8), DEFAULT_QUIET_HOURS, at(FRIDAY, 8)),
        (at(FRIDAY, 21, 59), DEFAULT_QUIET_HOURS, at(FRIDAY, 21, 59)),
        (at(FRIDAY, 22), DEFAULT_QUIET_HOURS, None),
        (at(FRIDAY, 23, 59), NO_QUIET_HOURS, at(FRIDAY, 23, 59)),
        (at(FRIDAY + timedelta(days=1), 0), NO_QUIET_HOURS, None),
        (at(FRIDAY + timedelta(days=7), 8), DEFAULT_QUIET_HOURS, None),
        (at(FRIDAY, 8, 5), (22 * 60, 9 * 60), at(FRIDAY, 9)),
        (at(FRIDAY, 8, 5), (6 * 60, 14 * 60), at(FRIDAY, 14)),
    ],
)
def test_a_late_one_is_sent_on_its_day_outside_of_quiet_hours(
    now: datetime, quiet: tuple[int | None, int | None], sent: datetime | None
) -> None:
    assert find_sending_time(at(FRIDAY, 8), now, JAKARTA, quiet) == sent

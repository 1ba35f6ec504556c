"""A daily time comes once a day in the user's zone, even when the clocks change. Typed times are read or rejected."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.time_of_day import MINUTES, is_quiet, next_at, read_span, read_time

JAKARTA, BERLIN, NEW_YORK, LORD_HOWE = map(
    ZoneInfo, ("Asia/Jakarta", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe")
)
NOON = datetime(2026, 8, 17, 5, 0, tzinfo=UTC)
"""Twelve o'clock in Jakarta."""


def utc(*when: int) -> datetime:
    return datetime(*when, tzinfo=UTC)  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    ("minute", "zone", "after", "comes"),
    [
        (8 * 60, JAKARTA, NOON, utc(2026, 8, 18, 1)),
        (12 * 60, JAKARTA, NOON, utc(2026, 8, 18, 5)),
        (12 * 60 + 1, JAKARTA, NOON, utc(2026, 8, 17, 5, 1)),
        (0, JAKARTA, NOON, utc(2026, 8, 17, 17)),
        (8 * 60, BERLIN, utc(2026, 3, 28, 12), utc(2026, 3, 29, 6)),  # summer time began that night
        (8 * 60, BERLIN, utc(2026, 10, 24, 12), utc(2026, 10, 25, 7)),
        (150, BERLIN, utc(2026, 3, 28, 12), utc(2026, 3, 29, 1, 30)),  # 02:30 was skipped: it is 03:30
        (150, BERLIN, utc(2026, 10, 24, 12), utc(2026, 10, 25, 0, 30)),  # 02:30 came twice
        (150, BERLIN, utc(2026, 10, 25, 0, 30), utc(2026, 10, 26, 1, 30)),  # and counts once
    ],
)
def test_the_next_time_is_what_the_clocks_there_show(
    minute: int, zone: ZoneInfo, after: datetime, comes: datetime
) -> None:
    assert next_at(minute, zone, after) == comes


@given(
    minute=st.integers(0, MINUTES - 1),
    after=st.datetimes(datetime(2010, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    zone=st.sampled_from([JAKARTA, BERLIN, NEW_YORK, LORD_HOWE]),
)
def test_each_day_has_one_time(minute: int, after: datetime, zone: ZoneInfo) -> None:
    first = next_at(minute, zone, after)
    second = next_at(minute, zone, first)
    assert after < first < second
    assert first - after <= timedelta(hours=26)
    assert (second.astimezone(zone).date() - first.astimezone(zone).date()).days == 1


@pytest.mark.parametrize(
    ("hours", "quiet", "loud"),
    [((22 * 60, 7 * 60), (22, 23, 0, 6), (7, 12, 21)), ((13 * 60, 14 * 60), (13,), (12, 14)), ((None, 60), (), (0, 1))],
)
def test_quiet_hours_may_reach_over_midnight(
    hours: tuple[int | None, int | None], quiet: tuple[int, ...], loud: tuple[int, ...]
) -> None:
    def at(hour: int) -> datetime:
        return datetime(2026, 8, 17, hour, tzinfo=JAKARTA).astimezone(UTC)

    assert all(is_quiet(at(hour), JAKARTA, *hours) for hour in quiet)
    assert not any(is_quiet(at(hour), JAKARTA, *hours) for hour in loud)


TIMES = {
    "07:00": ("7",),
    "07:30": ("7:30", "07.30", "0730", "\uff17\uff1a\uff13\uff10"),
    "19:05": ("19:05",),
    "19:00": ("7 pm",),
    "19:30": ("7:30 P.M.",),
    "00:00": ("12 am", "pukul 12 malam", "24:00"),
    "12:00": ("12 pm",),
    "06:00": ("at 6", "6 pagi"),
    "20:00": ("jam 8 malam",),
    "02:00": ("2 malam",),
    "13:00": ("jam 1 siang",),
    "11:00": ("11 siang",),
    "16:00": ("4 sore",),
}


@pytest.mark.parametrize(("typed", "clock"), [(each, key) for key, texts in TIMES.items() for each in texts])
def test_times_are_read_as_people_type_them(typed: str, clock: str) -> None:
    hour, minute = map(int, clock.split(":"))
    assert read_time(typed) == hour * 60 + minute


@pytest.mark.parametrize("typed", ["", "25", "7:60", "24:01", "soon", "7 8", "-7", "7:3", "½", "100000", "7" * 5000])
def test_what_is_no_time_is_not_taken_for_one(typed: str) -> None:
    assert read_time(typed) is None


@pytest.mark.parametrize(
    ("typed", "hours"),
    [
        ("22-7", (1320, 420)),
        ("22:00 – 07:00", (1320, 420)),  # noqa: RUF001  a dash, as phones write it
        ("10 pm to 6 am", (1320, 360)),
        ("jam 9 malam sampai jam 5 pagi", (1260, 300)),
        ("7-7", None),
        ("22", None),
        ("-", None),
        ("22-", None),
        ("1-2-3", None),
        ("-" * 5000, None),
    ],
)
def test_two_times_are_quiet_hours(typed: str, hours: tuple[int, int] | None) -> None:
    assert read_span(typed) == hours

"""Periods: whole hours and days of the user's zone, from a button or typed."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.date_ranges import LONGEST_DAYS, Period, Span, get_day_span, get_recent_span, parse_span

JAKARTA, BERLIN, KATHMANDU = ZoneInfo("Asia/Jakarta"), ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Kathmandu")
NOW = datetime(2026, 11, 21, 18, 30, tzinfo=UTC)
"""01:30 on the 22nd in Jakarta."""

TODAY = date(2026, 11, 22)
HOUR = timedelta(hours=1)


def span_of(first: date, end: date) -> Span:
    return get_day_span(first, end, JAKARTA)


def test_a_day_is_24_hours_of_which_the_present_one_is_the_last() -> None:
    span = get_recent_span(Period.DAY, NOW, JAKARTA)
    assert span.parts == 24
    assert span.edges[-2] <= NOW < span.until
    assert {after - before for before, after in pairwise(span.edges)} == {HOUR}


@pytest.mark.parametrize(("period", "parts"), [(Period.WEEK, 7), (Period.MONTH, 30)])
def test_a_week_and_a_month_are_days_of_ones_own(period: Period, parts: int) -> None:
    span = get_recent_span(period, NOW, JAKARTA)
    assert span.parts == parts
    assert span.edges[-2].astimezone(JAKARTA) == datetime(2026, 11, 22, tzinfo=JAKARTA)
    assert all(edge.astimezone(JAKARTA).hour == 0 for edge in span.edges)


SPANS = {
    ("2026-11-01", "2026-11-01"): ("2026-11-01", "\uff11\uff0f\uff11\uff11\uff0f\uff12\uff10\uff12\uff16"),
    ("2026-11-01", "2026-11-15"): (
        "2026-11-01 2026-11-15",
        "2026-11-01 - 2026-11-15",
        "2026-11-01..2026-11-15",
        "1/11/2026 - 15/11/2026",
        "1.11.2026 s/d 15.11.2026",
        "01-11-2026 sampai 15-11-2026",
        "1/11-15/11",
        "1 Nov - 15 Nov",
    ),
    ("2025-12-01", "2025-12-15"): ("1 Des – 15 Des 2025",),  # noqa: RUF001  as phones write it
    ("2026-08-01", "2026-09-03"): ("dari 1 Agustus 2026 hingga 3 September 2026",),
    ("2026-05-01", "2026-05-03"): ("from 1 may to 3 may",),
    ("2026-10-01", "2026-10-31"): ("2026-10", "10/2026", "Oktober"),
    ("2025-10-01", "2025-10-31"): ("okt 2025",),
    ("2026-09-01", "2026-10-31"): ("2026-09 - 2026-10",),
    ("2025-12-01", "2025-12-31"): ("desember",),
    ("2025-01-01", "2025-12-31"): ("2025",),
    ("2026-01-01", "2026-11-22"): ("2026",),
    ("2026-11-01", "2026-11-22"): ("November",),
    ("2026-11-13", "2026-11-22"): ("10 days", "10 hari"),
    ("2026-11-22", "2026-11-22"): ("1d",),
}


@pytest.mark.parametrize(("text", "first", "end"), [(each, *key) for key, texts in SPANS.items() for each in texts])
def test_what_is_typed_is_a_time(text: str, first: str, end: str) -> None:
    assert parse_span(text, TODAY, JAKARTA) == span_of(date.fromisoformat(first), date.fromisoformat(end))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "halo",
        "2026-13-01",
        "31/2/2026",
        "29 feb",
        "15/11/2026 - 1/11/2026",
        "2026-11-23",
        "2024-01-01 2026-01-01",
        "0000-01-01",
        "0001-01-01",
        "9999-12-31",
        "0/11/2026",
        "0 days",
        "999 days",
        "1/11/2026 2/11/2026 3/11/2026",
        "kirim 1/11/2026",
        "1/11/2026 atau 2/11/2026",
        "123456789",
        "1" * 4000,
        "\U0001f648" * 2000,
    ],
)
def test_what_is_no_time_is_refused(text: str) -> None:
    assert parse_span(text, TODAY, JAKARTA) is None


@given(st.text(max_size=60) | st.from_regex(r"[0-9a-z/. -]{1,30}", fullmatch=True))
def test_nothing_that_is_typed_breaks_it(text: str) -> None:
    for zone in (JAKARTA, BERLIN, KATHMANDU):
        span = parse_span(text, TODAY, zone)
        assert span is None or 1 <= span.parts <= LONGEST_DAYS

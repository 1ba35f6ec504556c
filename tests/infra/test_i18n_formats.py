"""Formats of numbers, money and times in each language."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.infra.i18n import Formats

EN, ID = Formats("en"), Formats("id")
NOON = datetime(2026, 8, 17, 3, 5, tzinfo=UTC)
JAKARTA = ZoneInfo("Asia/Jakarta")


def test_rupiah_have_the_readers_separators_and_no_cents() -> None:
    assert [EN.rupiah(1_500_000), ID.rupiah(1_500_000)] == ["Rp1,500,000", "Rp1.500.000"]
    assert [EN.rupiah(0), ID.rupiah(-5_000)] == ["Rp0", "-Rp5.000"]


def test_sats_are_counted_in_each_language() -> None:
    assert [EN.sats(29_412), EN.sats(1), EN.sats(0)] == ["29,412 sats", "1 sat", "0 sats"]
    assert [ID.sats(29_412), ID.sats(1)] == ["29.412 sats", "1 sats"]


@given(st.decimals(allow_nan=False, allow_infinity=False, places=12, min_value=0, max_value=10**15))
def test_a_rate_is_shown_in_whole_rupiah(rate: Decimal) -> None:
    shown = Decimal(EN.rate(rate).removeprefix("Rp").replace(",", ""))
    assert shown == int(shown)
    assert abs(shown - rate) <= Decimal("0.5")
    assert ID.rate(rate).replace(".", ",") == EN.rate(rate)


@pytest.mark.parametrize(
    ("value", "english", "indonesian"),
    [
        ("1.5", "1.5%", "1,5%"),
        ("100", "100%", "100%"),
        ("0.004", "0%", "0%"),
        ("-0.004", "0%", "0%"),
        ("-1.256", "-1.26%", "-1,26%"),
        ("1234.5", "1,234.5%", "1.234,5%"),
        ("Infinity", "∞%", "∞%"),
    ],
)
def test_percentages_are_read_at_a_glance(value: str, english: str, indonesian: str) -> None:
    assert [EN.percent(Decimal(value)), ID.percent(Decimal(value))] == [english, indonesian]


@pytest.mark.parametrize(
    ("zone", "clock"),
    [
        ("Asia/Jakarta", "10.05 WIB"),
        ("Asia/Pontianak", "10.05 WIB"),
        ("Asia/Makassar", "11.05 WITA"),
        ("Asia/Jayapura", "12.05 WIT"),
        ("Asia/Singapore", "11.05 UTC+8"),
        ("Asia/Kathmandu", "08.50 UTC+5:45"),
        ("America/New_York", "23.05 UTC-4"),
        ("UTC", "03.05 UTC"),
    ],
)
def test_the_clock_is_the_users_own_and_names_its_zone(zone: str, clock: str) -> None:
    assert ID.clock(NOON, ZoneInfo(zone)) == clock
    assert EN.clock(NOON, ZoneInfo(zone)) == clock.replace(".", ":")


def test_staff_read_the_clock_to_the_second() -> None:
    moment = NOON + timedelta(seconds=7)
    assert [EN.seconds(moment, JAKARTA), ID.seconds(moment, JAKARTA)] == ["10:05:07", "10.05.07"]


def test_a_date_is_written_in_full_with_plain_spaces() -> None:
    assert ID.date_time(NOON, JAKARTA) == "17 Agu 2026 10.05 WIB"
    assert EN.date_time(NOON, JAKARTA) == "17 Aug 2026, 10:05 WIB"


def test_a_day_is_that_of_the_readers_zone_with_or_without_its_year() -> None:
    late = NOON.replace(hour=17)
    assert [ID.date(late, JAKARTA), EN.date(late, JAKARTA)] == ["18 Agu 2026", "18 Aug 2026"]
    assert [ID.date(late, UTC, with_year=False), EN.date(late, UTC, with_year=False)] == ["17 Agu", "17 Aug"]


@pytest.mark.parametrize(
    ("length", "english", "indonesian"),
    [
        (timedelta(seconds=5), "1 minute", "1 menit"),
        (timedelta(minutes=4, seconds=59), "4 minutes", "4 menit"),
        (timedelta(minutes=119), "119 minutes", "119 menit"),
        (timedelta(minutes=179), "2 hours", "2 jam"),
        (timedelta(hours=47), "47 hours", "47 jam"),
        (timedelta(days=3, hours=23), "3 days", "3 hari"),
    ],
)
def test_a_duration_promises_no_more_time_than_there_is(length: timedelta, english: str, indonesian: str) -> None:
    assert [EN.duration(length), ID.duration(length)] == [english, indonesian]

"""A time zone is found by any name of the user's place, and no user's time depends on a guess."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.zones import INDONESIAN, MAX_OFFERED, PRESUMED, find_zones, offered_zone, zone_of
from bot.infra.i18n import LOCALES
from bot.infra.i18n.formats import find_city, list_zone_names

NAMES = list_zone_names()
NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


def found(query: str) -> tuple[str, ...]:
    return find_zones(query, NAMES, NOW)


@pytest.mark.parametrize(
    ("typed", "zone"),
    [
        ("tokyo", "Asia/Tokyo"),
        ("Tokio", "Asia/Tokyo"),
        ("TOKYO ", "Asia/Tokyo"),
        ("Jepang", "Asia/Tokyo"),
        ("japan", "Asia/Tokyo"),
        ("Europe/Berlin", "Europe/Berlin"),
        ("europe/berlin", "Europe/Berlin"),
        ("Jerman", "Europe/Berlin"),
        ("di Jerman", "Europe/Berlin"),
        ("saya di Jerman", "Europe/Berlin"),
        ("I live in Germany.", "Europe/Berlin"),
        ("München", "Europe/Berlin"),
        ("Sao Paulo", "America/Sao_Paulo"),
        ("tinggal di Hong Kong", "Asia/Hong_Kong"),
        ("new york", "America/New_York"),
        ("Hongkong", "Asia/Hong_Kong"),
        ("Singapura", "Asia/Singapore"),
        ("saigon", "Asia/Ho_Chi_Minh"),
        ("Asia/Calcutta", "Asia/Kolkata"),
        ("Mekkah", "Asia/Riyadh"),
        ("Kairo", "Africa/Cairo"),
        ("Selangor", "Asia/Kuala_Lumpur"),
        ("Sabah", "Asia/Kuching"),
        ("kota kinabalu", "Asia/Kuching"),
        ("saya di Sarawak", "Asia/Kuching"),
        ("Kowloon", "Asia/Hong_Kong"),
        ("Dammam", "Asia/Riyadh"),
        ("Doha", "Asia/Qatar"),
        ("Malaysia", "Asia/Kuala_Lumpur"),
        ("wib", "Asia/Jakarta"),
        ("Surabaya", "Asia/Jakarta"),
        ("bali", "Asia/Makassar"),
        ("WIT", "Asia/Jayapura"),
        ("UTC", "Etc/UTC"),
        ("gmt+0", "Etc/UTC"),
        ("UTC+2", "Etc/GMT-2"),
        ("utc \u22123", "Etc/GMT+3"),
        ("+7", "Etc/GMT-7"),
        ("GMT+05:45", "Asia/Kathmandu"),
    ],
)
def test_a_place_is_understood_by_its_names(typed: str, zone: str) -> None:
    assert found(typed) == (zone,)


@pytest.mark.parametrize(
    ("typed", "among"),
    [
        ("jkarta", "Asia/Jakarta"),
        ("makasar", "Asia/Makassar"),
        ("berln", "Europe/Berlin"),
        ("dubay", "Asia/Dubai"),
        ("san fr", "America/Los_Angeles"),
        ("UTC+5:30", "Asia/Kolkata"),
    ],
)
def test_misspelt_and_begun_names_are_offered(typed: str, among: str) -> None:
    assert found(typed)[0] == among


def test_a_country_of_several_times_offers_each_once() -> None:
    assert found("Indonesia") == INDONESIAN
    assert set(found("Amerika")) == {"America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles"}
    assert found("Rusia")[0] == "Europe/Moscow"
    assert len(found("Rusia")) == MAX_OFFERED
    assert found("Malaysia") == ("Asia/Kuala_Lumpur",)  # its two zones have had the same time since 1982


@pytest.mark.parametrize(
    "typed", ["", " ", "500rb", "zzzzz", "lo", "utc+15", "utc-13", "+99", "<b>", "🙈" * 4096, "Berlin" * 20, "..", "/"]
)
def test_what_is_no_place_is_not_guessed_at(typed: str) -> None:
    assert found(typed) == ()


@given(st.text(max_size=80))
def test_whatever_is_typed_brings_a_few_zones_that_this_machine_knows(typed: str) -> None:
    zones = found(typed)
    assert len(zones) <= MAX_OFFERED
    for key in zones:
        assert offered_zone(key, NAMES) == ZoneInfo(key)
        assert len(f"s:zone:{key}".encode()) <= 64


@given(st.integers(min_value=-12, max_value=14))
def test_a_difference_in_hours_is_exactly_that(hours: int) -> None:
    (key,) = found(f"UTC{hours:+d}")
    assert NOW.astimezone(zone_of(key)).utcoffset() == timedelta(hours=hours)


def test_every_zone_that_may_be_found_exists_and_has_a_name_in_both_languages() -> None:
    assert [key for key in NAMES if offered_zone(key, NAMES) is None] == []
    for locale in LOCALES:
        assert {key for key in NAMES if not find_city(key, locale)} == {*INDONESIAN, "Asia/Pontianak"}
        assert not any("/" in find_city(key, locale) for key in NAMES)


@pytest.mark.parametrize(
    "forged", ["", "../../etc/passwd", "/etc/passwd", "Mars/Base", "localtime", "Etc/GMT-99", "Etc/GMT-1\n"]
)
def test_a_zone_that_no_button_offers_is_not_taken(forged: str) -> None:
    assert offered_zone(forged, NAMES) is None


def test_who_has_chosen_nothing_is_presumed_to_live_by_jakartas_clock() -> None:
    assert zone_of("") is PRESUMED
    assert NOW.astimezone(PRESUMED).hour == 16
    assert zone_of("Asia/Jakarta") is not PRESUMED
    assert zone_of("Mars/Base") is PRESUMED

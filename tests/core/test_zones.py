"""A time zone is found by any name of the user's place, and no user's time depends on a guess."""

from datetime import UTC, datetime
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


NAMES_OF = {
    "Asia/Tokyo": ("tokyo", "Tokio", "TOKYO ", "Jepang", "japan"),
    "Europe/Berlin": (
        "Europe/Berlin",
        "europe/berlin",
        "Jerman",
        "di Jerman",
        "saya di Jerman",
        "I live in Germany.",
        "München",
    ),
    "America/Sao_Paulo": ("Sao Paulo",),
    "Asia/Hong_Kong": ("tinggal di Hong Kong", "Hongkong", "Kowloon"),
    "America/New_York": ("new york",),
    "Asia/Singapore": ("Singapura",),
    "Asia/Ho_Chi_Minh": ("saigon",),
    "Asia/Kolkata": ("Asia/Calcutta",),
    "Asia/Riyadh": ("Mekkah", "Dammam"),
    "Africa/Cairo": ("Kairo",),
    "Asia/Kuala_Lumpur": ("Selangor", "Malaysia"),
    "Asia/Kuching": ("Sabah", "kota kinabalu", "saya di Sarawak"),
    "Asia/Qatar": ("Doha",),
    "Asia/Jakarta": ("wib", "Surabaya"),
    "Asia/Makassar": ("bali",),
    "Asia/Jayapura": ("WIT",),
    "Etc/UTC": ("UTC", "gmt+0"),
    "Etc/GMT-2": ("UTC+2",),
    "Etc/GMT+3": ("utc \u22123",),
    "Etc/GMT-7": ("+7",),
    "Asia/Kathmandu": ("GMT+05:45",),
}


@pytest.mark.parametrize(("typed", "zone"), [(each, key) for key, texts in NAMES_OF.items() for each in texts])
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

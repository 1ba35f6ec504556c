"""Statistics fit in a caption with any numbers, and the service's values are shown as data."""

from decimal import Decimal
from typing import Any

import pytest

from bot.operations import screens
from bot.operations.service import ServiceStatistics
from bot.settlement.model import DepositRails, PlatformStats
from tests.screens import JAKARTA, ScreenCase, check_screen
from tests.texts import TRANSLATIONS, text


def show_service(stats: dict[str, Any], locale: str = "en", rails: DepositRails | None = None) -> str:
    """Return the text about the service's statistics."""
    service = ServiceStatistics(PlatformStats(stats), rails)
    seen = ScreenCase("the service", screens.show_service_statistics(TRANSLATIONS.get(locale), service, JAKARTA))
    check_screen(seen)
    return seen.text


def statistic_line(name: str, value: str) -> str:
    return text("operations.platform.figure", name=name, value=value)


@pytest.mark.parametrize(
    ("key", "value", "name", "said"),
    [
        ("averageFeeIdr", Decimal("4999.50"), "Average fee IDR", "Rp5,000"),
        ("success_rate_percent", Decimal("99.126"), "Success rate percent", "99.13%"),
        ("activeNow", True, "Active now", text("operations.platform.yes")),
        ("note", None, "Note", "–"),  # noqa: RUF001  meant as a dash
        ("banks", ["BCA", "BRI", 3], "Banks", "BCA, BRI, 3"),
        ("list", list(range(100)), "List", text("operations.platform.items", count=100)),
        ("byChannel", {"lightning": 5, "btcb": {"a": {"b": 1}}}, "By channel · Lightning", "5"),
        ("byChannel", {"btcb": {"a": {"b": 1}}}, "By channel · Btcb", text("operations.platform.items", count=1)),
        ("huge", 10**400, "Huge", "1.000e400"),
        ("tiny", Decimal("-1e-900"), "Tiny", "-1.000e-900"),
        ("nothing", Decimal("0e-99"), "Nothing", "0"),
        ("long", Decimal("0." + "3" * 500), "Long", "0.333333333333"),
        ("at", "2026-99-99T00:00:00Z", "At", "2026-99-99T00:00:00Z"),
        ("at", "0001-01-01T00:00:00+14:00", "At", "0001-01-01T00:00:00+14:00"),
        ("account", "0812345", "Account", "0812345"),
        ("___", 1, "___", "1"),
        ("", 1, "–", "1"),  # noqa: RUF001  meant as a dash
    ],
)
def test_unknown_values_of_the_service_are_shown_by_their_type(key: str, value: object, name: str, said: str) -> None:
    assert statistic_line(name, said) in show_service({key: value}).split("\n")

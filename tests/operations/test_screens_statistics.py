"""Statistics fit in a caption with any numbers, and the service's values are shown as data."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from bot.core.date_ranges import Period, get_recent_span
from bot.infra.drawing.chart_drawing import render_chart
from bot.infra.i18n import LOCALES
from bot.operations import screens
from bot.operations.model import (
    BotStatistics,
    OrderOutcome,
    OrderStatistics,
    OwnTotals,
    Tally,
    UserStatistics,
)
from bot.operations.service import ServiceStatistics
from bot.settlement.model import DepositRails, PlatformStats
from tests.operations.samples import SIZES, statistics_of
from tests.screens import JAKARTA, ScreenCase, check_screen
from tests.texts import TRANSLATIONS, says, text

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


def show_service(stats: dict[str, Any], locale: str = "en", rails: DepositRails | None = None) -> str:
    """Return the text about the service's statistics."""
    service = ServiceStatistics(PlatformStats(stats), rails)
    seen = ScreenCase("the service", screens.show_service_statistics(TRANSLATIONS.get(locale), service, JAKARTA))
    check_screen(seen)
    return seen.text


def statistic_line(name: str, value: str) -> str:
    return text("operations.platform.figure", name=name, value=value)


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("period", Period)
@pytest.mark.parametrize("size", SIZES)
def test_all_statistics_fit_in_a_caption(locale: str, period: Period, size: int) -> None:
    t, span = TRANSLATIONS.get(locale), get_recent_span(period, NOW, JAKARTA)
    counted = statistics_of(size, span.parts)
    seen = ScreenCase(
        "own", screens.show_statistics(t, period, "21 Nov 2026, 16:30 WIB", counted, b""), is_caption=True
    )
    check_screen(seen)
    facts = screens.build_chart(t, period, span, counted.orders, JAKARTA)
    assert len(facts.bars) == span.parts
    assert all(0 <= bar.share <= 1 for bar in facts.bars)
    assert len(facts.levels) <= screens.LEVELS + 1
    assert render_chart(facts).startswith(b"\x89PNG")


@pytest.mark.parametrize("locale", LOCALES)
def test_the_statistics_say_what_was_counted(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    parts: list[dict[OrderOutcome, Tally]] = [{} for _ in range(7)]
    parts[2] = {
        OrderOutcome.SENT: Tally(orders=3, idr=1_500_000, sats=88_000),
        OrderOutcome.UNPAID: Tally(orders=1, idr=9),
    }
    orders = OrderStatistics(parts=tuple(parts), median=timedelta(seconds=95), timed=3)
    people = UserStatistics(known=120, away=4, active=30, new=10, ordered=5, paid=4)
    counted = BotStatistics(users=people, subscribers=statistics_of(7, 7).subscribers, orders=orders)
    shown_text = screens.show_statistics(t, Period.WEEK, "15 Nov", counted, b"").text
    for said in (t.rupiah(1_500_000), t.sats(88_000), "✅", "⌛", "95", t.percent(75), t.percent(40), "120"):
        assert said in shown_text
    assert screens.OUTCOME_SIGNS[OrderOutcome.WAITING] not in shown_text


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


@pytest.mark.parametrize("locale", LOCALES)
def test_what_the_bot_counts_is_beside_what_the_service_counts(locale: str) -> None:
    own = OwnTotals(created=7, sent=Tally(orders=5, idr=10**18, sats=10**12))
    names = ("totalOrders", "completedOrders", "totalVolumeIdr", "totalVolumeSats")
    stats = PlatformStats({**dict.fromkeys(names, 9), "tagline": "fast", "more": {"totalOrders": 1}})
    t = TRANSLATIONS.get(locale)
    seen = ScreenCase("", screens.show_service_statistics(t, ServiceStatistics(stats, None, own), JAKARTA))
    check_screen(seen)
    for ours in (t.number(7), t.number(5), t.rupiah(10**18), t.sats(10**12)):
        assert f"Kirim: {ours})" in seen.text
    assert seen.text.count("Kirim: ") == len(names)
    assert says(seen.text, "operations.platform.about_ours", locale)
    without = ScreenCase("", screens.show_service_statistics(t, ServiceStatistics(stats, None), JAKARTA))
    assert not says(without.text, "operations.platform.about_ours", locale)

"""Statistics fit in a caption with any numbers, and the service's values are shown as data."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core import csv
from bot.core.csv import CsvFile
from bot.core.date_ranges import NAMED_SPANS, Period, get_recent_span
from bot.infra.drawing.chart_drawing import render_chart
from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.reader import Reader
from bot.operations import screens
from bot.operations.buttons import StatisticsAction, StatisticsButton
from bot.operations.model import (
    BotStatistics,
    OrderOutcome,
    OrderStatistics,
    OwnTotals,
    Tally,
    UserStatistics,
)
from bot.operations.screens import format_key, format_value
from bot.operations.service import MAX_ORDERS, ServiceStatistics
from bot.settlement.model import DepositRails, PlatformStats, Rail
from tests.examples import examples, some
from tests.operations.samples import SIZES, statistics_of
from tests.screens import HOSTILE_NAMES, JAKARTA, ScreenCase, check_screen
from tests.texts import TRANSLATIONS, says, text

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


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


def test_an_outcome_has_its_sign_and_its_words_in_every_language() -> None:
    assert set(screens.OUTCOME_SIGNS) == set(OrderOutcome)
    for locale in LOCALES:
        for outcome in OrderOutcome:
            assert TRANSLATIONS.get(locale).plain(f"operations.statistics.outcome_{outcome}")


def test_known_values_of_the_service_are_well_formatted() -> None:
    shown_text = show_service(
        {
            "totalOrders": 1234,
            "totalVolumeIdr": "1500000",
            "totalVolumeSats": 29_412,
            "tagline": "Bitcoin <in>, rupiah out",
            "updatedAt": "2026-11-21T09:30:00.000Z",
        }
    )
    for key, value in (
        ("operations.platform.total_orders", "1,234"),
        ("operations.platform.total_volume_idr", "Rp1,500,000"),
        ("operations.platform.total_volume_sats", "29,412 sats"),
        ("operations.platform.tagline", "Bitcoin <in>, rupiah out"),
        ("operations.platform.updated_at", "21 Nov 2026, 16:30 WIB"),
    ):
        assert statistic_line(text(key), value) in shown_text.split("\n")
    in_indonesian = text(
        "operations.platform.figure", "id", name=text("operations.platform.total_volume_idr", "id"), value="Rp1.500.000"
    )
    assert in_indonesian in show_service({"totalVolumeIdr": Decimal(1_500_000)}, "id").split("\n")


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
@pytest.mark.parametrize("typed", some([*HOSTILE_NAMES, "🙈" * 4096, "\ufdfa" * 4096, "\ud800", "x" * 1_000_000]))
def test_no_text_of_the_service_breaks_the_message(locale: str, typed: str) -> None:
    rail = Rail(name=typed, summary=typed, token=typed, chain_id=10**18, contract=typed, address=typed)
    rails = DepositRails(is_configured=False, rails=(rail,) * 5, error=typed)
    # Many keys, then long keys. Both at once would take a gigabyte.
    many = min(1000, 100_000_000 // len(typed))
    show_service({f"{typed} {number}": [typed] * 5 for number in range(many)}, locale, rails)
    show_service({f"{number} {typed}": {typed: typed} for number in range(40)}, locale, rails)


@settings(max_examples=examples(25), deadline=None)
@given(st.dictionaries(st.text(), JSON, max_size=6))
def test_any_json_is_shown(stats: dict[str, Any]) -> None:
    show_service(stats, "id")


def test_values_that_do_not_fit_are_counted() -> None:
    many = show_service({f"key{number}": number for number in range(screens.MAX_LINES + 4)})
    assert says(many, "operations.platform.more", count=4)


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


@pytest.mark.parametrize("locale", LOCALES)
def test_a_service_that_does_not_answer_is_shown_as_such(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    for service in (ServiceStatistics(None, None), ServiceStatistics(PlatformStats({}), a_rails())):
        check_screen(ScreenCase("the service", screens.show_service_statistics(t, service, JAKARTA)))
    assert (
        t("operations.platform.unconfigured")
        in screens.show_service_statistics(t, ServiceStatistics(None, a_rails()), JAKARTA).text
    )


def a_rails() -> DepositRails:
    return DepositRails(is_configured=False, rails=())


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("totalVolumeIdr", "Total volume IDR"),
        ("total_volume_sats", "Total volume sats"),
        ("HTTPErrors24h", "Http errors24h"),
        ("já-é", "Já é"),
    ],
)
def test_a_key_is_split_into_words(key: str, words: str) -> None:
    assert format_key(key) == words


def test_a_number_in_a_text_is_one_only_where_the_key_says_so() -> None:
    t = TRANSLATIONS.get("en")
    assert format_value(t, "volumeIdr", "12000", JAKARTA) == "Rp12,000"
    assert format_value(t, "code", "12000", JAKARTA) == "12000"
    assert format_value(t, "volumeIdr", "-12000", JAKARTA) == "-12,000"


@pytest.mark.parametrize("locale", LOCALES)
def test_the_export_asks_for_a_time_and_says_which_it_was(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    reader = Reader(t, JAKARTA, NOW)
    asking = ScreenCase("which time", screens.ask_period(t))
    check_screen(asking)
    assert {StatisticsButton.read(str(button.data)) for button in asking.buttons} == {
        StatisticsButton(StatisticsAction.CSV, name) for name in NAMED_SPANS
    }
    check_screen(ScreenCase("not sent", screens.explain_not_sent(t)))
    for find in NAMED_SPANS.values():
        span = find(NOW, JAKARTA)
        for count in (0, MAX_ORDERS + 1):
            check_screen(ScreenCase("no file", screens.explain_no_file(reader, CsvFile(count, None), span)))
        assert t.plural("staff.export.orders", 12) in screens.format_caption(reader, CsvFile(12, b""), span)
    assert csv.build_file_name("orders", NAMED_SPANS["last_month"](NOW, JAKARTA), JAKARTA) == (
        "kirim-orders-2026-10-01-to-2026-10-31.csv"
    )

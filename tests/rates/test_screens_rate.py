"""The rate as text and as a picture: the same numbers, in the format of each language."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from bot.infra.drawing.chart import Trend
from bot.infra.drawing.chart_drawing import render_chart
from bot.infra.i18n import LOCALES
from bot.rates import screens
from bot.rates.buttons import RateButton
from bot.rates.model import Chart, ChartPeriod, RateHistory, make_history, to_points
from bot.settlement.model import Quote
from tests.screens import JAKARTA, ScreenCase
from tests.texts import TRANSLATIONS, label, text

ENGLISH, INDONESIAN = TRANSLATIONS.get("en"), TRANSLATIONS.get("id")
NOW = datetime(2026, 11, 21, 10, 6, tzinfo=UTC)
QUOTE = Quote(Decimal("1612345678.25"), NOW, Decimal("16250.4"), "sandbox")


def history(*before: tuple[float, int], period: ChartPeriod = ChartPeriod.DAY, quote: Quote = QUOTE) -> RateHistory:
    """Return a history of pairs: hours ago, and million rupiah."""
    seen = [Quote(Decimal(millions) * 10**6, NOW - timedelta(hours=hours)) for hours, millions in before]
    return make_history(period, to_points(seen), quote)


def told(locale: str, looked_back: RateHistory, quote: Quote = QUOTE) -> ScreenCase:
    shown = screens.show_rate(TRANSLATIONS.get(locale), quote, JAKARTA, Chart(b"PNG", looked_back), subscribed=True)
    return ScreenCase("rate", shown, is_caption=True)


def millions(amount: str) -> str:
    return label("rates.millions", "id", amount=amount)


def test_the_rate_in_english() -> None:
    shown = told("en", history((24, 1_592), (12, 1_620), (6, 1_580)))
    ends = {"lowest": "Rp1,580,000,000", "highest": "Rp1,620,000,000"}
    assert [part.split("\n") for part in shown.text.split("\n\n")] == [
        [
            text("rates.btc", rate="Rp1,612,345,678"),
            text("rates.usdc", rate="Rp16,250"),
            text("rates.as_of_source", at="17:06 WIB", source="sandbox"),
        ],
        [
            text("rates.example", amount="Rp100,000", sats="6,203 sats"),
            text("rates.example", amount="Rp1,000,000", sats="62,022 sats"),
            text("rates.fee", fee="Rp5,000"),
        ],
        text("rates.went", period=text("rates.period_day"), change="↑ 1.28%", **ends).split("\n"),
    ]
    assert shown.screen.photo == b"PNG"


def test_the_shown_period_is_marked_and_the_others_are_a_tap_away() -> None:
    row = told("en", history(period=ChartPeriod.WEEK)).screen.keyboard[0]
    assert [button.label for button in row] == [
        label("rates.button_day"),
        f"· {label('rates.button_week')} ·",
        label("rates.button_month"),
    ]
    assert [RateButton.read(button.data or "") for button in row] == [RateButton(period) for period in ChartPeriod]


def test_the_picture_says_what_the_caption_says() -> None:
    facts = screens.make_chart_facts(INDONESIAN, history((24, 1_592), (12, 1_620), (6, 1_580)), QUOTE, JAKARTA)
    assert (facts.title, facts.main_number, facts.period) == (
        "BTC/IDR",
        "Rp1.612.345.678",
        label("rates.period_day", "id"),
    )
    since = label("rates.chart_since", "id", at="20 Nov 2026 17.06 WIB")
    assert (facts.change, facts.trend, facts.note) == ("↑ 1,28%", Trend.UP, since)
    assert facts.columns == (
        (label("rates.lowest", "id"), f"Rp{millions('1.580,0')}"),
        (label("rates.highest", "id"), f"Rp{millions('1.620,0')}"),
        ("USDC/IDR", "Rp16.250"),
    )
    assert [mark.label for mark in facts.levels] == [millions("1.580"), millions("1.600"), millions("1.620")]
    assert [mark.label for mark in facts.times] == ["18.00", "21 Nov", "06.00", "12.00"]
    assert facts.footer == label("rates.chart_source", "id", at="21 Nov 2026 17.06 WIB", source="sandbox")
    assert facts.runs[-1][-1][0] == 1


@pytest.mark.parametrize("btc_idr", ["0.01", "7", "999999", "9999999.99", "10000000", "123456789012345"])
@pytest.mark.parametrize("locale", LOCALES)
def test_any_rate_makes_a_picture(btc_idr: str, locale: str) -> None:
    quote = Quote(Decimal(btc_idr), NOW)
    for looked_back in (history(quote=quote), history((5, 1_600), (3, 2), quote=quote)):
        assert render_chart(screens.make_chart_facts(TRANSLATIONS.get(locale), looked_back, quote, JAKARTA))

"""Each screen of rate updates shows the saved values, and each of its buttons has a handler."""

from dataclasses import replace
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.rates import handlers, screens
from bot.rates.buttons import RateButton, SubscriptionAction, SubscriptionButton
from bot.rates.model import RateUpdates
from bot.settlement.model import Quote
from tests.architecture.every_screen import screens_of_modules
from tests.rates.samples import ALERT, SUBSCRIBED
from tests.screens import JAKARTA, NOW, Outside, ScreenCase
from tests.settlement.builders import LISTED_BCA
from tests.texts import TRANSLATIONS, says, text

QUOTE = Quote(Decimal("1700123456.78"), NOW, Decimal("16345.5"), "binance")


@pytest.mark.parametrize("locale", LOCALES)
def test_only_subscribers_are_offered_to_stop_and_the_button_says_what(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    labels = {
        subscribed: [button.label for row in screens.subscription_rows(t, subscribed=subscribed) for button in row]
        for subscribed in (False, True)
    }
    assert [label for label in labels[True] if label not in labels[False]] == [t.plain("rates.subscription.stop")]


@pytest.mark.parametrize("locale", LOCALES)
def test_every_button_is_answered(locale: str) -> None:
    actions = set()
    t = TRANSLATIONS.get(locale)
    rows = (Screen("-", screens.subscription_rows(t, subscribed=subscribed)) for subscribed in (False, True))
    shown = screens_of_modules(Outside(t, LISTED_BCA), screens)
    for seen in (*(ScreenCase("under the rate", each) for each in rows), *shown):
        data = [each.data or "" for each in seen.buttons if RateButton.read(each.data or "") is None]
        pressed = {each: SubscriptionButton.read(each) for each in data}
        assert {other for other, button in pressed.items() if button is None} <= {"new", "s:zones"}
        actions |= {button.action for button in pressed.values() if button is not None}
    assert actions == set(SubscriptionAction)


def test_the_overview_names_all_that_is_on() -> None:
    t = TRANSLATIONS.get("en")
    alerts = (
        ALERT,
        replace(ALERT, id="b" * 16, is_above=False, threshold=Decimal(1_600_000_000), cooldown_seconds=86_400),
    )
    shown = ScreenCase(
        "overview",
        screens.show_updates(Reader(t, ZoneInfo("Asia/Makassar"), NOW), RateUpdates(SUBSCRIBED, alerts)),
    )
    above = text(
        "rates.subscription.alert_line", price="▲ Rp1,750,000,000", how=text("rates.subscription.once"), until="16 Sep"
    )
    again = text("rates.subscription.again", hours=24)
    below = text("rates.subscription.alert_line", price="▼ Rp1,600,000,000", how=again, until="16 Sep")
    assert shown.text == text(
        "rates.subscription.text",
        daily=text("rates.subscription.each_day", time="07:30 WITA"),
        quiet="22:00–07:00",  # noqa: RUF001  a dash
        alerts=f"\n• {above}\n• {below}",
    )
    assert [button.label for button in shown.buttons if "🗑" in button.label] == [
        "🗑 ▲ Rp1,750,000,000",
        "🗑 ▼ Rp1,600,000,000",
    ]
    assert shown.buttons[-1].data == "sub:stop"


def test_whoever_has_nothing_on_is_told_what_there_is_and_needs_no_stop() -> None:
    shown = ScreenCase("overview", screens.show_updates(Reader(TRANSLATIONS.get("en"), JAKARTA, NOW), RateUpdates()))
    assert shown.text == text("rates.subscription.off")
    assert [button.data for button in shown.buttons] == ["sub:daily", "sub:alert"]


def test_the_button_of_a_price_bears_that_price() -> None:
    t = TRANSLATIONS.get("en")
    asked = ScreenCase("asked", screens.ask_price(t, QUOTE, JAKARTA))
    assert (asked.buttons[0].label, asked.buttons[0].data) == ("▲ +1%", "sub:at:1717000000")
    assert asked.buttons[3].data == "sub:at:1683000000"
    how = ScreenCase("how often", screens.ask_frequency(t, Decimal(1_683_000_000), QUOTE))
    below = text("rates.subscription.below", threshold="Rp1,683,000,000")
    assert says(how.text, "rates.subscription.ask_how_often", condition=below, rate="Rp1,700,123,457")
    assert how.buttons[0].data == "sub:set:b:1683000000:0:30"
    assert how.buttons[5].data == "sub:set:b:1683000000:24:90"


def test_a_daily_quote_says_how_the_rate_has_moved() -> None:
    t = TRANSLATIONS.get("id")
    told = ScreenCase("daily", screens.show_daily_quote(t, QUOTE, Decimal("-1.5"), JAKARTA))
    moved = text("rates.subscription.daily_rate_moved", "id", rate="Rp1.700.123.457", change="▼ 1,5%")
    usdc = text("rates.subscription.daily_usdc", "id", rate="Rp16.346")
    assert says(told.text, "rates.subscription.daily_text", "id", rates=f"{moved}\n{usdc}", fee="Rp5.000")
    assert says(told.text, "rates.subscription.example", "id", amount="Rp100.000", sats="5.882 sats")


@pytest.mark.parametrize(
    "forged",
    [
        "sub:",
        "sub:set:a:1:0",
        "sub:set:c:1700000000:0:30",
        "sub:set:a:-5:0:30",
        "sub:set:a:1700000000:7:30",
        "sub:set:a:1700000000:0:31",
        "sub:set:a:99999999999999999:0:30",
    ],
)
def test_no_forged_button_makes_an_alert(forged: str) -> None:
    button = SubscriptionButton.read(forged)
    assert button is None or handlers._parse_alert(button.argument) is None

"""Each screen of rate updates shows the saved values, and each of its buttons has a handler."""

from dataclasses import replace
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.reader import Reader
from bot.rates import handlers, screens
from bot.rates.buttons import SubscriptionButton
from bot.rates.model import RateUpdates
from tests.rates.samples import ALERT, SUBSCRIBED
from tests.screens import NOW, ScreenCase
from tests.texts import TRANSLATIONS, text


@pytest.mark.parametrize("locale", LOCALES)
def test_only_subscribers_are_offered_to_stop_and_the_button_says_what(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    labels = {
        subscribed: [button.label for row in screens.subscription_rows(t, subscribed=subscribed) for button in row]
        for subscribed in (False, True)
    }
    assert [label for label in labels[True] if label not in labels[False]] == [t.plain("rates.subscription.stop")]


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

"""The screens that set a price alert."""

from datetime import tzinfo
from decimal import Decimal

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import format_clock
from bot.infra.telegram.ui.screen import Button, Screen
from bot.rates.alerts import COOLDOWN_HOURS, DURATION_DAYS, PERCENT_STEPS, shift_rate
from bot.rates.buttons import SubscriptionAction, SubscriptionButton
from bot.rates.screens.subscription import format_frequency
from bot.settlement.model import Quote

ABOVE, BELOW = "a", "b"
ONCE = "0"
"""Means "no cooldown" in a button's data."""


def ask_price(t: Translator, quote: Quote, zone: tzinfo) -> Screen:
    """Return the question for the price. Prices a few percent away have buttons, and others are typed."""
    steps = tuple(tuple(_step_button(t, quote, sign * percent) for percent in PERCENT_STEPS) for sign in (1, -1))
    text = t("rates.subscription.ask_alert", rate=t.rate(quote.btc_idr), at=format_clock(t, quote.fetched_at, zone))
    return Screen(text, (*steps, (_back_button(t),)))


def ask_frequency(t: Translator, threshold: Decimal, quote: Quote) -> Screen:
    """Return the understood price, with buttons for how often and how long. A tap on one sets the alert."""
    is_above = threshold > quote.btc_idr
    text = t(
        "rates.subscription.ask_how_often",
        condition=format_condition(t, threshold, is_above=is_above),
        rate=t.rate(quote.btc_idr),
        away=t.percent(abs(threshold / quote.btc_idr - 1) * 100),
    )
    ways = tuple(
        tuple(_frequency_button(t, threshold, hours, days, is_above=is_above) for days in DURATION_DAYS)
        for hours in (None, *COOLDOWN_HOURS)
    )
    back = Button(t.plain("users.button.back"), data=SubscriptionButton(SubscriptionAction.ASK_PRICE).pack())
    return Screen(text, (*ways, (back,)))


def explain_no_rate(t: Translator) -> Screen:
    """Return that there is no rate, so no alert can be set."""
    return Screen(t("rates.subscription.no_rate"), ((_back_button(t),),))


def format_condition(t: Translator, threshold: Decimal, *, is_above: bool) -> Html:
    """Return the condition of an alert: "above Rp1,750,000,000"."""
    return t("rates.subscription.above" if is_above else "rates.subscription.below", threshold=t.rate(threshold))


def _step_button(t: Translator, quote: Quote, percent: int) -> Button:
    label = f"{'▲ +' if percent > 0 else '▼ −'}{t.percent(abs(percent))}"  # noqa: RUF001  a minus, as it is written
    # The button carries the price itself, so that an old button still means the price that was shown.
    at = SubscriptionButton(SubscriptionAction.SET_PRICE, str(int(shift_rate(quote.btc_idr, percent))))
    return Button(label, data=at.pack())


def _frequency_button(t: Translator, threshold: Decimal, hours: int | None, days: int, *, is_above: bool) -> Button:
    often = format_frequency(t, None if hours is None else hours * 3600)
    label = t.plain("rates.subscription.for_days", how=often, days=days)
    side = ABOVE if is_above else BELOW
    argument = f"{side}:{int(threshold)}:{hours or ONCE}:{days}"
    return Button(label, data=SubscriptionButton(SubscriptionAction.SET_ALERT, argument).pack())


def _back_button(t: Translator) -> Button:
    return Button(t.plain("users.button.back"), data=SubscriptionButton(SubscriptionAction.SHOW).pack())

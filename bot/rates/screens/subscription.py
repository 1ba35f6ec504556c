"""News of the rate: what a person has asked for at a glance, the hour of their daily quote, and their quiet hours."""

from datetime import datetime, tzinfo

from bot.core.time_of_day import USUAL_QUIET
from bot.infra.i18n import Html, Translator
from bot.infra.i18n.formats import zone_name
from bot.infra.telegram.ui.formatting import format_day
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.rates.buttons import SubscriptionAction, SubscriptionButton
from bot.rates.model import RateAlert, Subscription
from bot.rates.subscriptions import Wishes
from bot.users.buttons import SettingsAction, SettingsButton
from bot.users.screens.settings import SettingsSection

NONE = "none"
HOURS = (6, 7, 8, 9, 12, 17, 19, 21)
IN_A_ROW = 4
SECTION = SettingsSection(
    position=50, label="settings.rate_news", data=SubscriptionButton(SubscriptionAction.SHOW).pack()
)
SPANS = ((21 * 60, 6 * 60), USUAL_QUIET, (23 * 60, 8 * 60))


def rows(t: Translator, *, subscribed: bool) -> Keyboard:
    """Return the rows under the rate: a daily quote, an alert, my rate updates; for subscribers also their end."""
    new = (
        _button(t, "subscription.daily", SubscriptionAction.DAILY),
        _button(t, "subscription.alert", SubscriptionAction.ALERT),
    )
    mine = _button(t, "subscription.mine", SubscriptionAction.OPEN)
    return (new, (mine, _button(t, "subscription.stop", SubscriptionAction.END)) if subscribed else (mine,))


def news_rows(t: Translator) -> Keyboard:
    """What stands under each piece of news: whoever gets it can change it, or end it in one tap."""
    return (
        (
            _button(t, "subscription.mine", SubscriptionAction.OPEN),
            _button(t, "subscription.stop", SubscriptionAction.END),
        ),
    )


def screen(t: Translator, wishes: Wishes, now: datetime, zone: tzinfo) -> Screen:
    """All of it, and the ways to change it."""
    new = (
        _button(t, "subscription.daily", SubscriptionAction.DAILY),
        _button(t, "subscription.alert", SubscriptionAction.ALERT),
    )
    if wishes.is_nothing:
        return Screen(t("subscription.off"), (new,))
    text = t(
        "subscription.text",
        daily=_daily(t, wishes.subscription, now, zone),
        quiet=_quiet(t, wishes.subscription),
        alerts=_alerts(t, wishes, now, zone),
    )
    drops = tuple(
        (Button(f"🗑 {price(t, alert)}", data=SubscriptionButton(SubscriptionAction.DROP, alert.id).pack()),)
        for alert in wishes.alerts
    )
    quiet_row = (_button(t, "subscription.quiet", SubscriptionAction.QUIET),)
    return Screen(text, (new, *drops, quiet_row, (_stop(t),)))


def daily(t: Translator, wishes: Wishes, now: datetime, zone: tzinfo) -> Screen:
    """The question for the hour: common ones in one tap, any other typed."""
    hours = tuple(
        Button(t.time_of_day(hour * 60), data=SubscriptionButton(SubscriptionAction.TIME, str(hour * 60)).pack())
        for hour in HOURS
    )
    text = t("subscription.ask_daily", daily=_daily(t, wishes.subscription, now, zone), now=t.clock(now, zone))
    off = ((_button(t, "subscription.no_daily", SubscriptionAction.TIME, NONE),),) if _is_daily(wishes) else ()
    zones = (
        Button(t.plain("settings.zone"), data=SettingsButton(SettingsAction.ZONES).pack()),
        _button(t, "button.back", SubscriptionAction.SHOW),
    )
    return Screen(text, (hours[:IN_A_ROW], hours[IN_A_ROW:], *off, zones))


def quiet(t: Translator, wishes: Wishes) -> Screen:
    """The question for the quiet hours."""
    spans = tuple((_span_button(t, *span),) for span in SPANS)
    none = (_button(t, "subscription.no_quiet", SubscriptionAction.HUSH, NONE),)
    text = t("subscription.ask_quiet", quiet=_quiet(t, wishes.subscription))
    return Screen(text, (*spans, none, (_button(t, "button.back", SubscriptionAction.SHOW),)))


def _span_button(t: Translator, start: int, end: int) -> Button:
    return Button(_span(t, start, end), data=SubscriptionButton(SubscriptionAction.HUSH, f"{start}-{end}").pack())


def price(t: Translator, alert: RateAlert) -> str:
    """An alert on a button: "▲ Rp1,750,000,000"."""
    return f"{'▲' if alert.is_above else '▼'} {t.rate(alert.threshold)}"


def _daily(t: Translator, subscription: Subscription | None, now: datetime, zone: tzinfo) -> str:
    if subscription is None or subscription.daily_minute is None:
        return t.plain("subscription.none")
    where = zone_name(now.astimezone(zone), zone)
    return t.plain("subscription.each_day", time=f"{t.time_of_day(subscription.daily_minute)} {where}")


def _quiet(t: Translator, subscription: Subscription | None) -> str:
    if subscription is None or subscription.quiet_from is None or subscription.quiet_until is None:
        return t.plain("subscription.none")
    return _span(t, subscription.quiet_from, subscription.quiet_until)


def _span(t: Translator, start: int, end: int) -> str:
    return f"{t.time_of_day(start)}–{t.time_of_day(end)}"  # noqa: RUF001  a dash between times


def _alerts(t: Translator, wishes: Wishes, now: datetime, zone: tzinfo) -> Html:
    if not wishes.alerts:
        return t("subscription.none")
    return Html("".join(f"\n• {_alert(t, alert, now, zone)}" for alert in wishes.alerts))


def _alert(t: Translator, alert: RateAlert, now: datetime, zone: tzinfo) -> Html:
    return t(
        "subscription.alert_line",
        price=price(t, alert),
        how=how_often(t, alert.cool_down),
        until=format_day(t, alert.expires_at, now, zone),
    )


def how_often(t: Translator, cool_down: int | None) -> str:
    """Whether an alert rings once, or again after so many seconds."""
    return t.plain("subscription.once") if cool_down is None else t.plain("subscription.again", hours=cool_down // 3600)


def _is_daily(wishes: Wishes) -> bool:
    return wishes.subscription is not None and wishes.subscription.daily_minute is not None


def _stop(t: Translator) -> Button:
    return Button(t.plain("subscription.stop"), data=SubscriptionButton(SubscriptionAction.STOP).pack(), style="danger")


def _button(t: Translator, label: str, action: SubscriptionAction, argument: str = "") -> Button:
    return Button(t.plain(label), data=SubscriptionButton(action, argument).pack())

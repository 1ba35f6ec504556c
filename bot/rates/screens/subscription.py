"""The screens of rate updates: the overview, the time of the daily quote, and the quiet hours."""

from bot.core.time_of_day import DEFAULT_QUIET_HOURS
from bot.infra.i18n import Html, Translator
from bot.infra.i18n.formats import get_zone_name
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.rates.buttons import SubscriptionAction, SubscriptionButton
from bot.rates.model import RateAlert, RateUpdates, Subscription
from bot.users.buttons import SettingsAction, SettingsButton
from bot.users.screens.settings import SettingsSection

NO_VALUE = "none"
HOURS = (6, 7, 8, 9, 12, 17, 19, 21)
HOURS_PER_ROW = 4
SECTION = SettingsSection(
    position=50, label="rates.settings.rate_news", data=SubscriptionButton(SubscriptionAction.SHOW).pack()
)
QUIET_HOURS = ((21 * 60, 6 * 60), DEFAULT_QUIET_HOURS, (23 * 60, 8 * 60))


def subscription_rows(t: Translator, *, subscribed: bool) -> Keyboard:
    """Return the rows under the rate: daily quote, alert, rate updates. Subscribers also get a button to stop them."""
    new = (
        _button(t, "rates.subscription.daily", SubscriptionAction.ASK_DAILY),
        _button(t, "rates.subscription.alert", SubscriptionAction.ASK_PRICE),
    )
    mine = _button(t, "rates.subscription.mine", SubscriptionAction.OPEN)
    return (new, (mine, _button(t, "rates.subscription.stop", SubscriptionAction.END)) if subscribed else (mine,))


def update_rows(t: Translator) -> Keyboard:
    """Return the rows under each rate update: buttons to change rate updates, and to stop them."""
    return (
        (
            _button(t, "rates.subscription.mine", SubscriptionAction.OPEN),
            _button(t, "rates.subscription.stop", SubscriptionAction.END),
        ),
    )


def show_updates(reader: Reader, updates: RateUpdates) -> Screen:
    """Return all rate updates of a user, with buttons to change them."""
    t = reader.t
    new = (
        _button(t, "rates.subscription.daily", SubscriptionAction.ASK_DAILY),
        _button(t, "rates.subscription.alert", SubscriptionAction.ASK_PRICE),
    )
    if updates.is_empty:
        return Screen(t("rates.subscription.off"), (new,))
    text = t(
        "rates.subscription.text",
        daily=_format_daily(reader, updates.subscription),
        quiet=_format_quiet(t, updates.subscription),
        alerts=_format_alerts(reader, updates),
    )
    drops = tuple(
        (
            Button(
                f"🗑 {format_price(t, alert)}", data=SubscriptionButton(SubscriptionAction.DELETE_ALERT, alert.id).pack()
            ),
        )
        for alert in updates.alerts
    )
    quiet_row = (_button(t, "rates.subscription.quiet", SubscriptionAction.ASK_QUIET),)
    return Screen(text, (new, *drops, quiet_row, (_stop_button(t),)))


def ask_daily_time(reader: Reader, updates: RateUpdates) -> Screen:
    """Return the question for the time of the daily quote. Common times have buttons, and others are typed."""
    t = reader.t
    hours = tuple(
        Button(t.time_of_day(hour * 60), data=SubscriptionButton(SubscriptionAction.SET_DAILY, str(hour * 60)).pack())
        for hour in HOURS
    )
    text = t(
        "rates.subscription.ask_daily",
        daily=_format_daily(reader, updates.subscription),
        now=t.clock(reader.now, reader.zone),
    )
    off = (
        ((_button(t, "rates.subscription.no_daily", SubscriptionAction.SET_DAILY, NO_VALUE),),)
        if _is_daily(updates)
        else ()
    )
    zones = (
        Button(t.plain("users.settings.zone"), data=SettingsButton(SettingsAction.ZONES).pack()),
        _button(t, "users.button.back", SubscriptionAction.SHOW),
    )
    return Screen(text, (hours[:HOURS_PER_ROW], hours[HOURS_PER_ROW:], *off, zones))


def ask_quiet_hours(t: Translator, updates: RateUpdates) -> Screen:
    """Return the question for the quiet hours."""
    spans = tuple((_hours_button(t, *span),) for span in QUIET_HOURS)
    none = (_button(t, "rates.subscription.no_quiet", SubscriptionAction.SET_QUIET, NO_VALUE),)
    text = t("rates.subscription.ask_quiet", quiet=_format_quiet(t, updates.subscription))
    return Screen(text, (*spans, none, (_button(t, "users.button.back", SubscriptionAction.SHOW),)))


def _hours_button(t: Translator, start: int, end: int) -> Button:
    return Button(
        _format_hours(t, start, end), data=SubscriptionButton(SubscriptionAction.SET_QUIET, f"{start}-{end}").pack()
    )


def format_price(t: Translator, alert: RateAlert) -> str:
    """Return an alert for a button: "▲ Rp1,750,000,000"."""
    return f"{'▲' if alert.is_above else '▼'} {t.rate(alert.threshold)}"


def _format_daily(reader: Reader, subscription: Subscription | None) -> str:
    t = reader.t
    if subscription is None or subscription.daily_minute is None:
        return t.plain("rates.subscription.none")
    where = get_zone_name(reader.now.astimezone(reader.zone), reader.zone)
    return t.plain("rates.subscription.each_day", time=f"{t.time_of_day(subscription.daily_minute)} {where}")


def _format_quiet(t: Translator, subscription: Subscription | None) -> str:
    if subscription is None or subscription.quiet_from is None or subscription.quiet_until is None:
        return t.plain("rates.subscription.none")
    return _format_hours(t, subscription.quiet_from, subscription.quiet_until)


def _format_hours(t: Translator, start: int, end: int) -> str:
    return f"{t.time_of_day(start)}–{t.time_of_day(end)}"  # noqa: RUF001  a dash between times


def _format_alerts(reader: Reader, updates: RateUpdates) -> Html:
    if not updates.alerts:
        return reader.t("rates.subscription.none")
    return Html("".join(f"\n• {_format_alert(reader, alert)}" for alert in updates.alerts))


def _format_alert(reader: Reader, alert: RateAlert) -> Html:
    return reader.t(
        "rates.subscription.alert_line",
        price=format_price(reader.t, alert),
        how=format_frequency(reader.t, alert.cooldown_seconds),
        until=reader.format_day(alert.expires_at),
    )


def format_frequency(t: Translator, seconds: int | None) -> str:
    """Return how often an alert is sent: once, or again after `seconds`."""
    return (
        t.plain("rates.subscription.once")
        if seconds is None
        else t.plain("rates.subscription.again", hours=seconds // 3600)
    )


def _is_daily(updates: RateUpdates) -> bool:
    return updates.subscription is not None and updates.subscription.daily_minute is not None


def _stop_button(t: Translator) -> Button:
    return Button(
        t.plain("rates.subscription.stop"), data=SubscriptionButton(SubscriptionAction.STOP).pack(), style="danger"
    )


def _button(t: Translator, label: str, action: SubscriptionAction, argument: str = "") -> Button:
    return Button(t.plain(label), data=SubscriptionButton(action, argument).pack())

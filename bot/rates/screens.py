"""What users see of the rate: `/rate` with its chart, the rate updates, and what those send."""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from decimal import Decimal
from typing import Final

from bot.core.money import SETTLEMENT_FEE_IDR, Amount, sats_for_rupiah
from bot.core.text import plain
from bot.core.time_of_day import DEFAULT_QUIET_HOURS
from bot.infra.drawing.chart import ChartFacts, Mark, Scale, Trend, make_scale, make_times
from bot.infra.i18n import Html, Translator
from bot.infra.i18n.formats import get_zone_name
from bot.infra.telegram.ui.reader import Reader, clip, format_clock, format_time
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.rates.buttons import RateButton, SubscriptionAction, SubscriptionButton
from bot.rates.model import (
    COOLDOWN_HOURS,
    DURATION_DAYS,
    PERCENT_STEPS,
    Chart,
    ChartPeriod,
    RateAlert,
    RateHistory,
    RateUpdates,
    Subscription,
    estimate,
    shift_rate,
)
from bot.settlement.model import Quote
from bot.users.buttons import SettingsAction, SettingsButton, send_row

EXAMPLES = (100_000, 1_000_000)


def show_rate(t: Translator, quote: Quote, zone: tzinfo, chart: Chart | None = None, *, subscribed: bool) -> Screen:
    """Return the rate, its time, its source, and examples. With a chart, add how the rate changed."""
    paragraphs = ["\n".join(_rate_lines(t, quote, zone)), "\n".join(_example_lines(t, quote))]
    if chart is None:
        return Screen("\n\n".join(paragraphs), (*subscription_rows(t, subscribed=subscribed), send_row(t)))
    paragraphs += _change_paragraphs(t, chart.history)
    keyboard = (
        _period_row(t, chart.history.period),
        *subscription_rows(t, subscribed=subscribed),
        send_row(t),
    )
    return Screen("\n\n".join(paragraphs), keyboard, photo=chart.png)


def show_prices(t: Translator, quote: Quote, zone: tzinfo, amounts: Sequence[Amount]) -> Screen:
    """Return what the amounts that a user asked about cost, above the rate."""
    prices = [estimate(amount, quote) for amount in amounts]
    lines = [t("rates.price", amount=t.rupiah(each.idr), sats=t.sats(each.sats)) for each in prices]
    fee = t("rates.fee", fee=t.rupiah(SETTLEMENT_FEE_IDR))
    return Screen("\n\n".join(("\n".join(lines), fee, "\n".join(_rate_lines(t, quote, zone)))), (send_row(t),))


def explain_no_rate(t: Translator, *, subscribed: bool) -> Screen:
    """Return that there is no rate."""
    return Screen(t("rates.none"), (*subscription_rows(t, subscribed=subscribed), send_row(t)))


def explain_stale_rate(t: Translator, quote: Quote, zone: tzinfo, *, subscribed: bool) -> Screen:
    """Return that the rate is too old to be shown."""
    text = t("rates.stale", at=format_clock(t, quote.fetched_at, zone))
    return Screen(text, (*subscription_rows(t, subscribed=subscribed), send_row(t)))


def _rate_lines(t: Translator, quote: Quote, zone: tzinfo) -> list[Html]:
    lines = [t("rates.btc", rate=t.rate(quote.btc_idr))]
    if quote.usdc_idr is not None:
        lines.append(t("rates.usdc", rate=t.rate(quote.usdc_idr)))
    at, source = format_clock(t, quote.fetched_at, zone), clip(plain(quote.source))
    return [*lines, t("rates.as_of_source", at=at, source=source) if source else t("rates.as_of", at=at)]


def _example_lines(t: Translator, quote: Quote) -> list[Html]:
    sums = [
        t("rates.example", amount=t.rupiah(idr), sats=t.sats(sats_for_rupiah(idr, quote.btc_idr))) for idr in EXAMPLES
    ]
    return [*sums, t("rates.fee", fee=t.rupiah(SETTLEMENT_FEE_IDR))]


def _change_paragraphs(t: Translator, history: RateHistory) -> list[Html]:
    """Return how the rate changed as text, for users who can't see the picture."""
    if len(history.points) == 1:
        return []
    lowest, highest = (t.rupiah(int(rate.to_integral_value())) for rate in (history.lowest, history.highest))
    # A new bot has no history of the whole period. The picture says when it begins.
    key = "rates.went" if history.is_whole else "rates.went_so_far"
    period = t.plain(f"rates.period_{history.period}")
    return [t(key, period=period, change=format_change(t, history), lowest=lowest, highest=highest)]


def _period_row(t: Translator, shown: ChartPeriod) -> tuple[Button, ...]:
    labels = {period: t.plain(f"rates.button_{period}") for period in ChartPeriod}
    return tuple(
        Button(f"· {label} ·" if period is shown else label, data=RateButton(period).pack())
        for period, label in labels.items()
    )


BRAND: Final = "Kirim"
PAIR: Final = "BTC/IDR"

_MILLION: Final = Decimal(1_000_000)
_SHORT_FROM: Final = 10 * _MILLION
_FINE: Final = _MILLION / 10
_SIGNS: Final = {Trend.UP: "↑ ", Trend.DOWN: "↓ ", Trend.FLAT: ""}


def make_chart_facts(t: Translator, history: RateHistory, quote: Quote, zone: tzinfo) -> ChartFacts:
    """Return all that the picture shows."""
    ground = make_scale(history.lowest, history.highest)
    return ChartFacts(
        brand=BRAND,
        title=PAIR,
        period=t.plain(f"rates.period_{history.period}"),
        main_number=t.rupiah(int(quote.btc_idr.to_integral_value())),
        change=format_change(t, history),
        trend=get_trend(history),
        note=_format_note(t, history, zone),
        runs=_place_runs(history, ground),
        levels=tuple(Mark(ground.share(level), _format_millions(t, level, ground.step)) for level in ground.levels),
        times=_time_marks(t, history, zone),
        columns=_make_columns(t, history, quote),
        footer=_format_footer(t, quote, zone),
    )


def format_change(t: Translator, history: RateHistory) -> str:
    """Return the change of the rate: "↑ 1.25%". It is empty if there is no earlier rate."""
    percent = history.change_percent
    return "" if percent is None else _SIGNS[get_trend(history)] + t.percent(abs(percent))


def get_trend(history: RateHistory) -> Trend:
    """Return the direction of the change after rounding."""
    shown = round(history.change_percent or Decimal(0), 2)
    if not shown:
        return Trend.FLAT
    return Trend.UP if shown > 0 else Trend.DOWN


def _format_note(t: Translator, history: RateHistory, zone: tzinfo) -> str:
    if len(history.points) == 1:
        return t.plain("rates.chart_begins")
    return t.plain("rates.chart_since", at=t.date_time(history.since, zone))


def _place_runs(history: RateHistory, ground: Scale) -> tuple[tuple[tuple[float, float], ...], ...]:
    span = history.until - history.since

    def across(at: datetime) -> float:
        return (at - history.since) / span if span else 1.0

    return tuple(tuple((across(point.at), ground.share(point.rate)) for point in run) for run in history.runs)


def _time_marks(t: Translator, history: RateHistory, zone: tzinfo) -> tuple[Mark, ...]:
    """Return the marks of the time axis: hours, and dates at midnight."""
    span = history.until - history.since
    if not span:
        return ()
    clock = make_times(history.since, history.until, zone)
    return tuple(Mark((at - history.since) / span, _format_time(t, at, zone, clock.are_days)) for at in clock.moments)


def _format_time(t: Translator, at: datetime, zone: tzinfo, is_day: bool) -> str:  # noqa: FBT001  one of two words
    local = at.astimezone(zone)
    is_midnight = (local.hour, local.minute) == (0, 0)
    return t.date(at, zone, with_year=False) if is_day or is_midnight else t.hour(at, zone)


def _make_columns(t: Translator, history: RateHistory, quote: Quote) -> tuple[tuple[str, str], ...]:
    ends = (("rates.lowest", history.lowest), ("rates.highest", history.highest))
    shown = [(t.plain(key), _format_rate(t, rate)) for key, rate in ends if len(history.points) > 1]
    if quote.usdc_idr is not None:
        shown.append(("USDC/IDR", t.rupiah(int(quote.usdc_idr.to_integral_value()))))
    return tuple(shown)


def _format_footer(t: Translator, quote: Quote, zone: tzinfo) -> str:
    at, source = t.date_time(quote.fetched_at, zone), clip(plain(quote.source))
    return t.plain("rates.chart_source", at=at, source=source) if source else at


def _format_rate(t: Translator, rate: Decimal) -> str:
    """Return a rate, short enough for a column."""
    if rate < _SHORT_FROM:
        return t.rupiah(int(rate.to_integral_value()))
    return f"Rp{_format_millions(t, rate, _FINE)}"


def _format_millions(t: Translator, rate: Decimal, precision: Decimal) -> str:
    """Return a rate in millions, with the decimals that `precision` (in rupiah) needs."""
    if rate < _SHORT_FROM:
        return t.number(int(rate.to_integral_value()))
    places = max(0, -(precision / _MILLION).adjusted())
    return t.plain("rates.millions", amount=(rate / _MILLION).quantize(Decimal(1).scaleb(-places)))


NO_VALUE = "none"
HOURS = (6, 7, 8, 9, 12, 17, 19, 21)
HOURS_PER_ROW = 4
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


def explain_no_alert(t: Translator) -> Screen:
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


def show_daily_quote(t: Translator, quote: Quote, change: Decimal | None, zone: tzinfo) -> Screen:
    """Return the rate of the day, its change since the day before (in percent), and examples."""
    lines = [_format_daily_rate(t, quote, change)]
    if quote.usdc_idr is not None:
        lines.append(t("rates.subscription.daily_usdc", rate=t.rate(quote.usdc_idr)))
    examples = [
        t("rates.subscription.example", amount=t.rupiah(idr), sats=t.sats(sats_for_rupiah(idr, quote.btc_idr)))
        for idr in EXAMPLES
    ]
    text = t(
        "rates.subscription.daily_text",
        rates=Html("\n".join(lines)),
        examples=Html("\n".join(examples)),
        at=format_clock(t, quote.fetched_at, zone),
        fee=t.rupiah(SETTLEMENT_FEE_IDR),
    )
    return Screen(text, (send_row(t), *update_rows(t)))


def show_price_alert(
    t: Translator, quote: Quote, threshold: Decimal, zone: tzinfo, *, is_above: bool, cooldown_until: datetime | None
) -> Screen:
    """Return the reached price, and whether the alert can be sent again."""
    text = t(
        "rates.subscription.rings",
        condition=format_condition(t, threshold, is_above=is_above),
        rate=t.rate(quote.btc_idr),
        at=format_clock(t, quote.fetched_at, zone),
    )
    after = (
        t("rates.subscription.rang_once")
        if cooldown_until is None
        else t("rates.subscription.rings_again", time=format_time(t, cooldown_until, quote.fetched_at, zone))
    )
    return Screen(f"{text}\n\n{after}", (send_row(t), *update_rows(t)))


def _format_daily_rate(t: Translator, quote: Quote, change: Decimal | None) -> Html:
    rate = t.rate(quote.btc_idr)
    if change is None:
        return t("rates.subscription.daily_rate", rate=rate)
    sign = "▲ " if change > 0 else "▼ " if change < 0 else ""
    return t("rates.subscription.daily_rate_moved", rate=rate, change=f"{sign}{t.percent(abs(change))}")

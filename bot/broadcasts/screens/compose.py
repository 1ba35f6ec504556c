"""A broadcast's message as readers get it, and the screens for writing and confirming it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final

from bot.broadcasts.buttons import BroadcastAction, BroadcastButton, BroadcastListButton
from bot.broadcasts.model import (
    CHART,
    PERIODS,
    SUM_VARIABLES,
    VARIABLES,
    WIDEST_QUOTE,
    Audience,
    Broadcast,
    BroadcastWarning,
    Preview,
    calculate_change_percent,
    has_variables,
)
from bot.core.errors import Rejection
from bot.core.money import SETTLEMENT_FEE_IDR, sats_for_rupiah
from bot.core.templates import fill
from bot.core.text import plain
from bot.infra.i18n import LOCALES, Html, Translations, Translator, as_html
from bot.infra.telegram.ui.reader import Reader, clip, format_clock, format_clock_of_device
from bot.infra.telegram.ui.screen import CAPTION_UNITS, TEXT_UNITS, Button, Keyboard, Screen, Style, count_visible_units
from bot.rates import screens
from bot.settlement.model import Quote
from bot.users.buttons import send_row

MAX_SOURCE_LENGTH = 24
NO_VALUE = "—"


def render_text(broadcast: Broadcast, t: Translator) -> str:
    """Return the message for readers of `t`'s language as Telegram's HTML, or the caption if there is a picture.

    All these readers get the same text. A time is Telegram's own entity, so each app shows it in its reader's zone.

    Raises:
        ValueError: the text shows a quote, and the broadcast has none.
    """
    own = broadcast.texts.get(t.locale)
    if not own:
        return render_default_text(t, _get_quote(broadcast))
    return fill(own, format_variables(t, _get_quote(broadcast))) if has_variables(own) else own


def build_keyboard(t: Translator) -> Keyboard:
    """Return the buttons of each broadcast: send rupiah, and change or end rate updates."""
    return (send_row(t), *screens.update_rows(t))


def render_default_text(t: Translator, quote: Quote) -> Html:
    """Return the default text: the quote, and the sats for common sums."""
    values = format_variables(t, quote)
    usdc = "" if quote.usdc_idr is None else t("broadcasts.default_usdc", usdc=values["usdc"]) + "\n"
    return t(
        "broadcasts.default",
        rate=values["rate"],
        usdc=Html(usdc),
        sats_small=values["sats_100k"],
        sats_large=values["sats_1m"],
        fee=values["fee"],
        time=values["time"],
        source=values["source"],
    )


def format_variables(t: Translator, quote: Quote) -> dict[str, Html]:
    """Return the value of each variable as HTML, in the format of the reader's language."""
    sums = {name: as_html(t.sats(sats_for_rupiah(idr, quote.btc_idr))) for name, idr in SUM_VARIABLES.items()}
    return {
        **sums,
        "rate": as_html(t.rate(quote.btc_idr)),
        "usdc": as_html(NO_VALUE if quote.usdc_idr is None else t.rate(quote.usdc_idr)),
        "fee": as_html(t.rupiah(SETTLEMENT_FEE_IDR)),
        "time": format_clock_of_device(t, quote.fetched_at),
        "source": as_html(clip(plain(quote.source), MAX_SOURCE_LENGTH) or NO_VALUE),
    }


def check_length(broadcast: Broadcast, translations: Translations) -> None:
    """Check that the message in each language is short enough for Telegram with any quote.

    Raises:
        Rejection: a message is too long. It contains the limit.
    """
    limit = TEXT_UNITS if broadcast.picture is None else CAPTION_UNITS
    widest = replace(broadcast, quote=WIDEST_QUOTE)
    for locale in broadcast.languages:
        units = count_visible_units(render_text(widest, translations.get(locale)))
        if units > limit:
            key = "broadcasts.too_long" if broadcast.picture is None else "broadcasts.too_long_for_a_picture"
            raise Rejection(key, units=units, limit=limit)


def _get_quote(broadcast: Broadcast) -> Quote:
    if broadcast.quote is None:
        raise ValueError("a broadcast of the rate has no quote yet")
    return broadcast.quote


DAYS: Final = (7, 30, 90)
DAILY_MINUTES: Final = tuple(60 * hour for hour in (7, 8, 9, 12, 18, 20))
CHOSEN: Final = "✓ "


def show_draft(reader: Reader, broadcast: Broadcast) -> Screen:
    """Show the draft, with a button for each part."""
    t = reader.t
    lines = "\n".join(f"• {_describe_text(t, broadcast, locale)}" for locale in broadcast.languages)
    text = t(
        "broadcasts.compose",
        says=Html(lines),
        picture=describe_picture(t, broadcast),
        audience=describe_audience(t, broadcast.audience),
        when=describe_time(reader, broadcast),
    )
    text_buttons = tuple(
        make_button(t.plain("broadcasts.text_in", language=t.language(locale)), broadcast, BroadcastAction.TEXT, locale)
        for locale in broadcast.languages
    )
    parts = (
        _button(t, broadcast, "broadcasts.picture", BroadcastAction.PICTURE),
        _button(t, broadcast, "broadcasts.to", BroadcastAction.AUDIENCE),
    )
    preview = preview_button(t, broadcast)
    rows = (text_buttons, parts, (_button(t, broadcast, "broadcasts.when", BroadcastAction.WHEN),), (preview,))
    return Screen(text, (*rows, (_button(t, broadcast, "broadcasts.discard", BroadcastAction.DISCARD),)))


def ask_text(t: Translator, broadcast: Broadcast, locale: str) -> Screen:
    """Ask for the text in one language, and list the variables."""
    variables = "\n".join(f"<code>{{{name}}}</code> {t(f'broadcasts.variable.{name}')}" for name in VARIABLES)
    asked = t("broadcasts.ask_text", language=t.language(locale), variables=Html(variables))
    usual = (
        ((_button(t, broadcast, "broadcasts.usual_text", BroadcastAction.DEFAULT_TEXT, locale),),)
        if broadcast.texts.get(locale)
        else ()
    )
    return Screen(asked, (*usual, _back_row(t, broadcast)))


def ask_picture(t: Translator, broadcast: Broadcast) -> Screen:
    """Ask for a picture: none, a chart of the rate, or the operator's own."""
    charts = tuple(
        _choice_button(
            t, broadcast, f"broadcasts.chart.{period}", f"picture:{period}", broadcast.picture == CHART + period
        )
        for period in PERIODS
    )
    none = _choice_button(t, broadcast, "broadcasts.no_picture", "picture:none", broadcast.picture is None)
    return Screen(t("broadcasts.ask_picture"), ((none,), charts, _back_row(t, broadcast)))


def ask_audience(t: Translator, broadcast: Broadcast, readers: Mapping[str, int]) -> Screen:
    """Ask for the readers' language and how recently they were active. Show how many readers that are."""
    chosen = broadcast.audience
    everyone = _choice_button(t, broadcast, "broadcasts.readers.all", "to:all", chosen.locale is None)
    languages = tuple(
        make_button(
            _mark_chosen(t.language(locale), chosen.locale == locale), broadcast, BroadcastAction.AUDIENCE, locale
        )
        for locale in LOCALES
    )
    any_time = _choice_button(t, broadcast, "broadcasts.whenever", "days:0", chosen.active_days is None)
    days = tuple(
        make_button(
            _mark_chosen(t.plural("broadcasts.days", count), chosen.active_days == count),
            broadcast,
            BroadcastAction.DAYS,
            str(count),
        )
        for count in DAYS
    )
    text = t("broadcasts.ask_audience", audience=describe_audience(t, chosen), size=describe_size(t, readers))
    return Screen(text, ((everyone, *languages), (any_time,), days, _back_row(t, broadcast)))


def ask_start(reader: Reader, broadcast: Broadcast) -> Screen:
    """Ask when to send the broadcast: now, at a typed time, or daily."""
    t = reader.t
    at_once = broadcast.starts_at is None and broadcast.daily_minute is None
    now_button = _choice_button(t, broadcast, "broadcasts.now", "when:now", at_once)
    daily = [
        make_button(
            _mark_chosen(t.time_of_day(minute), broadcast.daily_minute == minute),
            broadcast,
            BroadcastAction.DAILY,
            str(minute),
        )
        for minute in DAILY_MINUTES
    ]
    half = len(daily) // 2
    other = _button(t, broadcast, "broadcasts.daily_other", BroadcastAction.DAILY, "other")
    text = t("broadcasts.ask_when", when=describe_time(reader, broadcast), now=t.clock(reader.now, reader.zone))
    return Screen(text, ((now_button,), tuple(daily[:half]), tuple(daily[half:]), (other,), _back_row(t, broadcast)))


def ask_daily_time(reader: Reader, broadcast: Broadcast) -> Screen:
    """Ask at what time of the day to send a daily broadcast."""
    t = reader.t
    return Screen(t("broadcasts.ask_daily", now=t.clock(reader.now, reader.zone)), (_back_row(t, broadcast),))


def show_discarded(t: Translator) -> Screen:
    """Say that the draft is discarded."""
    return Screen(
        t("broadcasts.discarded"), ((Button(t.plain("broadcasts.list"), data=BroadcastListButton(0).pack()),),)
    )


def describe_picture(t: Translator, broadcast: Broadcast) -> str:
    """Return which picture the broadcast has, as text."""
    period = broadcast.chart_period
    if period is not None:
        return t.plain(f"broadcasts.with_chart.{period}")
    return t.plain("broadcasts.no_picture" if broadcast.picture is None else "broadcasts.own_picture")


def describe_audience(t: Translator, chosen: Audience) -> str:
    """Return who gets the broadcast, as text."""
    readers = (
        t.plain("broadcasts.to.all")
        if chosen.locale is None
        else t.plain("broadcasts.to.readers_of", language=t.language(chosen.locale))
    )
    return readers if chosen.active_days is None else f"{readers}, {t.plural('broadcasts.active', chosen.active_days)}"


def describe_time(reader: Reader, broadcast: Broadcast) -> str:
    """Return when the broadcast starts, as text."""
    t = reader.t
    if broadcast.daily_minute is not None:
        return t.plain("broadcasts.daily_at", time=t.time_of_day(broadcast.daily_minute))
    if broadcast.starts_at is not None:
        return reader.format_time(broadcast.starts_at)
    return t.plain("broadcasts.at_once")


def describe_size(t: Translator, readers: Mapping[str, int]) -> str:
    """Return how many readers there are, by language: "12 people (English 4, Indonesian 8)"."""
    each = ", ".join(f"{t.language(name)} {t.number(count)}" for name, count in readers.items())
    total = t.plural("broadcasts.people", sum(readers.values()))
    return Html(f"{total} ({each})") if len(readers) > 1 else total


def _describe_text(t: Translator, broadcast: Broadcast, locale: str) -> Html:
    own = broadcast.texts.get(locale)
    return t("broadcasts.says_own" if own else "broadcasts.says_rate", language=t.language(locale))


def _back_row(t: Translator, broadcast: Broadcast) -> tuple[Button, ...]:
    return (_button(t, broadcast, "users.button.back", BroadcastAction.EDIT),)


def make_button(
    label: str, broadcast: Broadcast, action: BroadcastAction, argument: str = "", *, style: Style | None = None
) -> Button:
    """Return a button of this revision of the broadcast."""
    return Button(label, data=BroadcastButton.for_broadcast(broadcast, action, argument).pack(), style=style)


def preview_button(t: Translator, broadcast: Broadcast) -> Button:
    """Return the button that shows the messages as readers get them."""
    return make_button(t.plain("broadcasts.preview"), broadcast, BroadcastAction.PREVIEW, style="primary")


def _button(t: Translator, broadcast: Broadcast, label: str, action: BroadcastAction, argument: str = "") -> Button:
    return make_button(t.plain(label), broadcast, action, argument)


def _choice_button(t: Translator, broadcast: Broadcast, label: str, choice: str, is_chosen: bool) -> Button:  # noqa: FBT001
    action, _separator, argument = choice.partition(":")
    return make_button(_mark_chosen(t.plain(label), is_chosen), broadcast, BroadcastAction(action), argument)


def _mark_chosen(label: str, is_chosen: bool) -> str:  # noqa: FBT001
    return f"{CHOSEN if is_chosen else ''}{label}"


MINUTE = timedelta(minutes=1)


def show_heading(t: Translator, locale: str, count: int) -> Screen:
    """Introduce the preview of the message in one language."""
    return Screen(t.plural("broadcasts.preview_of", count, language=t.language(locale)), silent=True)


def ask_to_confirm(reader: Reader, preview: Preview) -> Screen:
    """Ask whether to send the broadcast, below its preview."""
    t = reader.t
    broadcast = preview.broadcast
    parts = [
        t(
            "broadcasts.confirm",
            size=describe_size(t, preview.readers),
            audience=describe_audience(t, broadcast.audience),
            duration=_describe_duration(t, preview.duration),
            when=describe_time(reader, broadcast) if broadcast.is_for_later else t.plain("broadcasts.at_once"),
        )
    ]
    if broadcast.quote is not None:
        parts.append(_describe_quote(reader, broadcast))
    label = t.plain("broadcasts.schedule") if broadcast.is_for_later else t.plural("broadcasts.send", preview.size)
    yes = make_button(label, broadcast, BroadcastAction.CONFIRM, style="success")
    return Screen("\n\n".join(parts), ((yes,), *change_or_cancel_rows(t, broadcast)))


def explain_not_shown(t: Translator, broadcast: Broadcast, *, is_refused: bool) -> Screen:
    """Say that the preview couldn't be sent, so the broadcast can't be confirmed.

    Telegram rejected it (`is_refused`) or couldn't be reached.
    """
    if is_refused:
        return Screen(t("broadcasts.refused_by_telegram"), change_or_cancel_rows(t, broadcast))
    again = preview_button(t, broadcast)
    return Screen(t("broadcasts.not_shown"), ((again,), *change_or_cancel_rows(t, broadcast)))


def ask_to_confirm_again(reader: Reader, preview: Preview) -> Screen:
    """Show the warnings, and ask again with another button."""
    t = reader.t
    broadcast = preview.broadcast
    why = "\n".join(f"⚠️ {_explain_warning(reader, warning, preview)}" for warning in preview.warnings)
    label, accepted = t.plural("broadcasts.send_anyway", preview.size), "".join(preview.warnings)
    yes = make_button(label, broadcast, BroadcastAction.CONFIRM_ANYWAY, accepted, style="danger")
    preview_again = make_button(t.plain("broadcasts.preview_anew"), broadcast, BroadcastAction.PREVIEW)
    return Screen(t("broadcasts.sure", why=Html(why)), ((yes,), (preview_again,), *change_or_cancel_rows(t, broadcast)))


def show_confirmed(reader: Reader, broadcast: Broadcast) -> Screen:
    """Say that the broadcast is being sent, or when it will be."""
    t = reader.t
    listed = Button(t.plain("broadcasts.list"), data=BroadcastListButton(0).pack())
    if broadcast.starts_at is None or broadcast.starts_at <= reader.now:
        return Screen(t("broadcasts.going"), ((listed,),))
    key = "broadcasts.scheduled" if broadcast.daily_minute is None else "broadcasts.scheduled_daily"
    text = t(key, when=describe_time(reader, broadcast), first=reader.format_time(broadcast.starts_at))
    return Screen(text, (cancel_row(t, broadcast), (listed,)))


def show_waiting(reader: Reader, broadcast: Broadcast, warnings: Iterable[BroadcastWarning]) -> Screen:
    """Say that a broadcast is due but waits for an operator, and why."""
    t = reader.t
    why = "\n".join(f"⚠️ {t(f'broadcasts.waits.{warning.name.lower()}')}" for warning in warnings)
    due = reader.format_time(broadcast.starts_at) if broadcast.starts_at else t.plain("broadcasts.at_once")
    return Screen(t("broadcasts.waiting", due=due, why=Html(why)), waiting_rows(t, broadcast))


def waiting_rows(t: Translator, broadcast: Broadcast) -> Keyboard:
    """Return the buttons of a broadcast that waits for an operator: preview it, or cancel it."""
    return ((preview_button(t, broadcast),), cancel_row(t, broadcast))


def cancel_row(t: Translator, broadcast: Broadcast) -> tuple[Button, ...]:
    """Return the button that cancels a broadcast that hasn't started."""
    label = "broadcasts.call_off" if broadcast.daily_minute is None else "broadcasts.end_daily"
    return (make_button(t.plain(label), broadcast, BroadcastAction.CANCEL, style="danger"),)


def _describe_quote(reader: Reader, broadcast: Broadcast) -> Html:
    t = reader.t
    if broadcast.is_for_later or broadcast.quote is None:
        return t("broadcasts.quote_later")
    at = format_clock(t, broadcast.quote.fetched_at, reader.zone)
    return t("broadcasts.quote_fixed", rate=t.rate(broadcast.quote.btc_idr), at=at)


def _explain_warning(reader: Reader, warning: BroadcastWarning, preview: Preview) -> Html:
    t = reader.t
    quote, last = preview.broadcast.quote, preview.last
    if quote is None:
        return t("broadcasts.waits.no_quote")
    if warning is BroadcastWarning.JUMPED and last is not None:
        moved = calculate_change_percent(last, quote)
        key = "broadcasts.jumped_up" if moved > 0 else "broadcasts.jumped_down"
        return t(key, percent=t.percent(abs(moved)), before=t.rate(last.btc_idr), rate=t.rate(quote.btc_idr))
    return t("broadcasts.stale", at=reader.format_time(quote.fetched_at, round_up=False))


def change_or_cancel_rows(t: Translator, broadcast: Broadcast) -> Keyboard:
    """Return the buttons for not sending it: change or discard a draft, or cancel a waiting broadcast."""
    if broadcast.is_waiting:
        return (cancel_row(t, broadcast),)
    change = make_button(t.plain("broadcasts.change"), broadcast, BroadcastAction.EDIT)
    return ((change, make_button(t.plain("broadcasts.discard"), broadcast, BroadcastAction.DISCARD)),)


def _describe_duration(t: Translator, length: timedelta) -> str:
    return (
        t.plain("broadcasts.under_a_minute")
        if length < MINUTE
        else t.plain("broadcasts.about", time=_round_up(t, length))
    )


def _round_up(t: Translator, length: timedelta) -> str:
    """Return the duration rounded up to minutes, so that the estimate isn't too short."""
    return t.duration(-(-length // MINUTE) * MINUTE)

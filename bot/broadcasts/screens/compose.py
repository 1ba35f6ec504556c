"""Screens for writing a draft: its texts, its picture, its audience and its time."""

from collections.abc import Mapping
from typing import Final

from bot.broadcasts.buttons import BroadcastAction, BroadcastButton, BroadcastListButton
from bot.broadcasts.model import CHART, PERIODS, VARIABLES, Audience, Broadcast
from bot.infra.i18n import LOCALES, Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Screen

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
        Button(
            t.plain("broadcasts.text_in", language=t.language(locale)),
            data=BroadcastButton.for_broadcast(broadcast, BroadcastAction.TEXT, locale).pack(),
        )
        for locale in broadcast.languages
    )
    parts = (
        _button(t, broadcast, "broadcasts.picture", BroadcastAction.PICTURE),
        _button(t, broadcast, "broadcasts.to", BroadcastAction.AUDIENCE),
    )
    preview = Button(
        t.plain("broadcasts.preview"),
        data=BroadcastButton.for_broadcast(broadcast, BroadcastAction.PREVIEW).pack(),
        style="primary",
    )
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
        Button(
            _mark_chosen(t.language(locale), chosen.locale == locale),
            data=BroadcastButton.for_broadcast(broadcast, BroadcastAction.AUDIENCE, locale).pack(),
        )
        for locale in LOCALES
    )
    any_time = _choice_button(t, broadcast, "broadcasts.whenever", "days:0", chosen.active_days is None)
    days = tuple(
        Button(
            _mark_chosen(t.plural("broadcasts.days", count), chosen.active_days == count),
            data=BroadcastButton.for_broadcast(broadcast, BroadcastAction.DAYS, str(count)).pack(),
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
        Button(
            _mark_chosen(t.time_of_day(minute), broadcast.daily_minute == minute),
            data=BroadcastButton.for_broadcast(broadcast, BroadcastAction.DAILY, str(minute)).pack(),
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


def _button(t: Translator, broadcast: Broadcast, label: str, action: BroadcastAction, argument: str = "") -> Button:
    return Button(t.plain(label), data=BroadcastButton.for_broadcast(broadcast, action, argument).pack())


def _choice_button(t: Translator, broadcast: Broadcast, label: str, choice: str, is_chosen: bool) -> Button:  # noqa: FBT001
    action, _separator, argument = choice.partition(":")
    button = BroadcastButton.for_broadcast(broadcast, BroadcastAction(action), argument)
    return Button(_mark_chosen(t.plain(label), is_chosen), data=button.pack())


def _mark_chosen(label: str, is_chosen: bool) -> str:  # noqa: FBT001
    return f"{CHOSEN if is_chosen else ''}{label}"

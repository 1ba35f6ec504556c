"""Before a broadcast goes: to how many, for how long, with which quote; and why to look twice."""

from collections.abc import Iterable
from datetime import datetime, timedelta, tzinfo

from bot.broadcasts.buttons import BroadcastAction, BroadcastButton, BroadcastListButton
from bot.broadcasts.drafts import Preview
from bot.broadcasts.model import Broadcast
from bot.broadcasts.rules import is_for_later, waits_for_word
from bot.broadcasts.schedule import Doubt, moved_percent
from bot.broadcasts.screens import compose
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import format_clock, format_time
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen

A_MINUTE = timedelta(minutes=1)


def heading(t: Translator, locale: str, count: int) -> Screen:
    """Stands before the message that readers of one language get."""
    return Screen(t.n("broadcast.preview_of", count, language=t.language(locale)), silent=True)


def screen(t: Translator, preview: Preview, now: datetime, zone: tzinfo) -> Screen:
    """The first question, under the messages themselves."""
    broadcast = preview.broadcast
    parts = [
        t(
            "broadcast.confirm",
            size=compose.size(t, preview.readers),
            audience=compose.audience(t, broadcast.audience),
            duration=_duration(t, preview.duration),
            when=compose.when(t, broadcast, now, zone) if is_for_later(broadcast) else t.plain("broadcast.at_once"),
        )
    ]
    if broadcast.quote is not None:
        parts.append(_of_quote(t, broadcast, zone))
    label = t.plain("broadcast.schedule") if is_for_later(broadcast) else t.n("broadcast.send", preview.size)
    yes = Button(label, data=BroadcastButton.of(broadcast, BroadcastAction.CONFIRM).pack(), style="success")
    return Screen("\n\n".join(parts), ((yes,), *ways_out(t, broadcast)))


def not_shown(t: Translator, broadcast: Broadcast, *, is_refused: bool) -> Screen:
    """What couldn't be shown can't be confirmed: Telegram refuses it, or couldn't be reached just now."""
    if is_refused:
        return Screen(t("broadcast.refused_by_telegram"), ways_out(t, broadcast))
    again = Button(
        t.plain("broadcast.preview"),
        data=BroadcastButton.of(broadcast, BroadcastAction.PREVIEW).pack(),
        style="primary",
    )
    return Screen(t("broadcast.not_shown"), ((again,), *ways_out(t, broadcast)))


def doubtful(t: Translator, preview: Preview, now: datetime, zone: tzinfo) -> Screen:
    """The second question: why to look twice, and another button."""
    broadcast = preview.broadcast
    why = "\n".join(f"⚠️ {_why(t, doubt, preview, now, zone)}" for doubt in preview.doubts)
    anyway = BroadcastButton.of(broadcast, BroadcastAction.SURE, "".join(preview.doubts)).pack()
    yes = Button(t.n("broadcast.send_anyway", preview.size), data=anyway, style="danger")
    anew = Button(t.plain("broadcast.preview_anew"), data=BroadcastButton.of(broadcast, BroadcastAction.PREVIEW).pack())
    return Screen(t("broadcast.sure", why=Html(why)), ((yes,), (anew,), *ways_out(t, broadcast)))


def confirmed(t: Translator, broadcast: Broadcast, now: datetime, zone: tzinfo) -> Screen:
    """It goes, or will go."""
    listed = Button(t.plain("broadcast.list"), data=BroadcastListButton(0).pack())
    if broadcast.starts_at is None or broadcast.starts_at <= now:
        return Screen(t("broadcast.going"), ((listed,),))
    key = "broadcast.scheduled" if broadcast.daily_minute is None else "broadcast.scheduled_daily"
    text = t(key, when=compose.when(t, broadcast, now, zone), first=format_time(t, broadcast.starts_at, now, zone))
    return Screen(text, (call_off_row(t, broadcast), (listed,)))


def waits(t: Translator, broadcast: Broadcast, doubts: Iterable[Doubt], now: datetime, zone: tzinfo) -> Screen:
    """Told to operators: its time has come, and why it hasn't begun."""
    why = "\n".join(f"⚠️ {t(f'broadcast.waits.{doubt.name.lower()}')}" for doubt in doubts)
    due = format_time(t, broadcast.starts_at, now, zone) if broadcast.starts_at else t.plain("broadcast.at_once")
    return Screen(t("broadcast.waiting", due=due, why=Html(why)), waiting_rows(t, broadcast))


def waiting_rows(t: Translator, broadcast: Broadcast) -> Keyboard:
    """What can be done with a broadcast whose time had come: look at it and send it, or not at all."""
    look = Button(
        t.plain("broadcast.preview"),
        data=BroadcastButton.of(broadcast, BroadcastAction.PREVIEW).pack(),
        style="primary",
    )
    return ((look,), call_off_row(t, broadcast))


def call_off_row(t: Translator, broadcast: Broadcast) -> tuple[Button, ...]:
    """To stop what hasn't begun."""
    label = "broadcast.call_off" if broadcast.daily_minute is None else "broadcast.end_daily"
    return (Button(t.plain(label), data=BroadcastButton.of(broadcast, BroadcastAction.OFF).pack(), style="danger"),)


def _of_quote(t: Translator, broadcast: Broadcast, zone: tzinfo) -> Html:
    if is_for_later(broadcast) or broadcast.quote is None:
        return t("broadcast.quote_later")
    at = format_clock(t, broadcast.quote.fetched_at, zone)
    return t("broadcast.quote_fixed", rate=t.rate(broadcast.quote.btc_idr), at=at)


def _why(t: Translator, doubt: Doubt, preview: Preview, now: datetime, zone: tzinfo) -> Html:
    quote, last = preview.broadcast.quote, preview.last
    if quote is None:
        return t("broadcast.waits.no_quote")
    if doubt is Doubt.JUMPED and last is not None:
        moved = moved_percent(last, quote)
        key = "broadcast.jumped_up" if moved > 0 else "broadcast.jumped_down"
        return t(key, percent=t.percent(abs(moved)), before=t.rate(last.btc_idr), rate=t.rate(quote.btc_idr))
    return t("broadcast.stale", at=format_time(t, quote.fetched_at, now, zone, up=False))


def ways_out(t: Translator, broadcast: Broadcast) -> Keyboard:
    """Not to send it: a draft can be changed or put away, one whose time had come called off."""
    if waits_for_word(broadcast):
        return (call_off_row(t, broadcast),)
    change = Button(t.plain("broadcast.change"), data=BroadcastButton.of(broadcast, BroadcastAction.EDIT).pack())
    return (
        (
            change,
            Button(t.plain("broadcast.discard"), data=BroadcastButton.of(broadcast, BroadcastAction.DISCARD).pack()),
        ),
    )


def _duration(t: Translator, length: timedelta) -> str:
    return t.plain("broadcast.under_a_minute") if length < A_MINUTE else t.plain("broadcast.about", time=_up(t, length))


def _up(t: Translator, length: timedelta) -> str:
    """Rounded up to whole minutes: an estimate shouldn't be too short."""
    return t.duration(-(-length // A_MINUTE) * A_MINUTE)

"""Before a broadcast goes: to how many, for how long, with which quote; and why to look twice."""

from collections.abc import Iterable
from datetime import timedelta

from bot.broadcasts.buttons import BroadcastAction, BroadcastButton, BroadcastListButton
from bot.broadcasts.drafts import Preview
from bot.broadcasts.model import Broadcast, Doubt, change_percent
from bot.broadcasts.screens import compose
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import format_clock
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen

A_MINUTE = timedelta(minutes=1)


def heading(t: Translator, locale: str, count: int) -> Screen:
    """Stands before the message that readers of one language get."""
    return Screen(t.plural("broadcast.preview_of", count, language=t.language(locale)), silent=True)


def screen(reader: Reader, preview: Preview) -> Screen:
    """The first question, under the messages themselves."""
    t = reader.t
    broadcast = preview.broadcast
    parts = [
        t(
            "broadcast.confirm",
            size=compose.size(t, preview.readers),
            audience=compose.audience(t, broadcast.audience),
            duration=_duration(t, preview.duration),
            when=compose.when(reader, broadcast) if broadcast.is_for_later else t.plain("broadcast.at_once"),
        )
    ]
    if broadcast.quote is not None:
        parts.append(_of_quote(reader, broadcast))
    label = t.plain("broadcast.schedule") if broadcast.is_for_later else t.plural("broadcast.send", preview.size)
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


def doubtful(reader: Reader, preview: Preview) -> Screen:
    """The second question: why to look twice, and another button."""
    t = reader.t
    broadcast = preview.broadcast
    why = "\n".join(f"⚠️ {_why(reader, doubt, preview)}" for doubt in preview.doubts)
    anyway = BroadcastButton.of(broadcast, BroadcastAction.SURE, "".join(preview.doubts)).pack()
    yes = Button(t.plural("broadcast.send_anyway", preview.size), data=anyway, style="danger")
    anew = Button(t.plain("broadcast.preview_anew"), data=BroadcastButton.of(broadcast, BroadcastAction.PREVIEW).pack())
    return Screen(t("broadcast.sure", why=Html(why)), ((yes,), (anew,), *ways_out(t, broadcast)))


def confirmed(reader: Reader, broadcast: Broadcast) -> Screen:
    """It goes, or will go."""
    t = reader.t
    listed = Button(t.plain("broadcast.list"), data=BroadcastListButton(0).pack())
    if broadcast.starts_at is None or broadcast.starts_at <= reader.now:
        return Screen(t("broadcast.going"), ((listed,),))
    key = "broadcast.scheduled" if broadcast.daily_minute is None else "broadcast.scheduled_daily"
    text = t(key, when=compose.when(reader, broadcast), first=reader.format_time(broadcast.starts_at))
    return Screen(text, (call_off_row(t, broadcast), (listed,)))


def waits(reader: Reader, broadcast: Broadcast, doubts: Iterable[Doubt]) -> Screen:
    """Told to operators: its time has come, and why it hasn't begun."""
    t = reader.t
    why = "\n".join(f"⚠️ {t(f'broadcast.waits.{doubt.name.lower()}')}" for doubt in doubts)
    due = reader.format_time(broadcast.starts_at) if broadcast.starts_at else t.plain("broadcast.at_once")
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


def _of_quote(reader: Reader, broadcast: Broadcast) -> Html:
    t = reader.t
    if broadcast.is_for_later or broadcast.quote is None:
        return t("broadcast.quote_later")
    at = format_clock(t, broadcast.quote.fetched_at, reader.zone)
    return t("broadcast.quote_fixed", rate=t.rate(broadcast.quote.btc_idr), at=at)


def _why(reader: Reader, doubt: Doubt, preview: Preview) -> Html:
    t = reader.t
    quote, last = preview.broadcast.quote, preview.last
    if quote is None:
        return t("broadcast.waits.no_quote")
    if doubt is Doubt.JUMPED and last is not None:
        moved = change_percent(last, quote)
        key = "broadcast.jumped_up" if moved > 0 else "broadcast.jumped_down"
        return t(key, percent=t.percent(abs(moved)), before=t.rate(last.btc_idr), rate=t.rate(quote.btc_idr))
    return t("broadcast.stale", at=reader.format_time(quote.fetched_at, up=False))


def ways_out(t: Translator, broadcast: Broadcast) -> Keyboard:
    """Not to send it: a draft can be changed or put away, one whose time had come called off."""
    if broadcast.is_waiting:
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

"""Screens for the confirmation of a broadcast: its size, its duration, its quote, and warnings."""

from collections.abc import Iterable
from datetime import timedelta

from bot.broadcasts.buttons import BroadcastAction, BroadcastButton, BroadcastListButton
from bot.broadcasts.drafts import Preview
from bot.broadcasts.model import Broadcast, BroadcastWarning, calculate_change_percent
from bot.broadcasts.screens import compose
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import format_clock
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen

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
            size=compose.describe_size(t, preview.readers),
            audience=compose.describe_audience(t, broadcast.audience),
            duration=_describe_duration(t, preview.duration),
            when=compose.describe_time(reader, broadcast) if broadcast.is_for_later else t.plain("broadcasts.at_once"),
        )
    ]
    if broadcast.quote is not None:
        parts.append(_describe_quote(reader, broadcast))
    label = t.plain("broadcasts.schedule") if broadcast.is_for_later else t.plural("broadcasts.send", preview.size)
    yes = Button(label, data=BroadcastButton.for_broadcast(broadcast, BroadcastAction.CONFIRM).pack(), style="success")
    return Screen("\n\n".join(parts), ((yes,), *change_or_cancel_rows(t, broadcast)))


def explain_not_shown(t: Translator, broadcast: Broadcast, *, is_refused: bool) -> Screen:
    """Say that the preview couldn't be sent, so the broadcast can't be confirmed.

    Telegram rejected it (`is_refused`) or couldn't be reached.
    """
    if is_refused:
        return Screen(t("broadcasts.refused_by_telegram"), change_or_cancel_rows(t, broadcast))
    again = Button(
        t.plain("broadcasts.preview"),
        data=BroadcastButton.for_broadcast(broadcast, BroadcastAction.PREVIEW).pack(),
        style="primary",
    )
    return Screen(t("broadcasts.not_shown"), ((again,), *change_or_cancel_rows(t, broadcast)))


def ask_to_confirm_again(reader: Reader, preview: Preview) -> Screen:
    """Show the warnings, and ask again with another button."""
    t = reader.t
    broadcast = preview.broadcast
    why = "\n".join(f"⚠️ {_explain_warning(reader, warning, preview)}" for warning in preview.warnings)
    anyway = BroadcastButton.for_broadcast(broadcast, BroadcastAction.CONFIRM_ANYWAY, "".join(preview.warnings)).pack()
    yes = Button(t.plural("broadcasts.send_anyway", preview.size), data=anyway, style="danger")
    preview_again = Button(
        t.plain("broadcasts.preview_anew"),
        data=BroadcastButton.for_broadcast(broadcast, BroadcastAction.PREVIEW).pack(),
    )
    return Screen(t("broadcasts.sure", why=Html(why)), ((yes,), (preview_again,), *change_or_cancel_rows(t, broadcast)))


def show_confirmed(reader: Reader, broadcast: Broadcast) -> Screen:
    """Say that the broadcast is being sent, or when it will be."""
    t = reader.t
    listed = Button(t.plain("broadcasts.list"), data=BroadcastListButton(0).pack())
    if broadcast.starts_at is None or broadcast.starts_at <= reader.now:
        return Screen(t("broadcasts.going"), ((listed,),))
    key = "broadcasts.scheduled" if broadcast.daily_minute is None else "broadcasts.scheduled_daily"
    text = t(key, when=compose.describe_time(reader, broadcast), first=reader.format_time(broadcast.starts_at))
    return Screen(text, (cancel_row(t, broadcast), (listed,)))


def show_waiting(reader: Reader, broadcast: Broadcast, warnings: Iterable[BroadcastWarning]) -> Screen:
    """Say that a broadcast is due but waits for an operator, and why."""
    t = reader.t
    why = "\n".join(f"⚠️ {t(f'broadcasts.waits.{warning.name.lower()}')}" for warning in warnings)
    due = reader.format_time(broadcast.starts_at) if broadcast.starts_at else t.plain("broadcasts.at_once")
    return Screen(t("broadcasts.waiting", due=due, why=Html(why)), waiting_rows(t, broadcast))


def waiting_rows(t: Translator, broadcast: Broadcast) -> Keyboard:
    """Return the buttons of a broadcast that waits for an operator: preview it, or cancel it."""
    preview = Button(
        t.plain("broadcasts.preview"),
        data=BroadcastButton.for_broadcast(broadcast, BroadcastAction.PREVIEW).pack(),
        style="primary",
    )
    return ((preview,), cancel_row(t, broadcast))


def cancel_row(t: Translator, broadcast: Broadcast) -> tuple[Button, ...]:
    """Return the button that cancels a broadcast that hasn't started."""
    label = "broadcasts.call_off" if broadcast.daily_minute is None else "broadcasts.end_daily"
    return (
        Button(
            t.plain(label), data=BroadcastButton.for_broadcast(broadcast, BroadcastAction.CANCEL).pack(), style="danger"
        ),
    )


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
    change = Button(
        t.plain("broadcasts.change"), data=BroadcastButton.for_broadcast(broadcast, BroadcastAction.EDIT).pack()
    )
    return (
        (
            change,
            Button(
                t.plain("broadcasts.discard"),
                data=BroadcastButton.for_broadcast(broadcast, BroadcastAction.DISCARD).pack(),
            ),
        ),
    )


def _describe_duration(t: Translator, length: timedelta) -> str:
    return (
        t.plain("broadcasts.under_a_minute")
        if length < MINUTE
        else t.plain("broadcasts.about", time=_round_up(t, length))
    )


def _round_up(t: Translator, length: timedelta) -> str:
    """Return the duration rounded up to minutes, so that the estimate isn't too short."""
    return t.duration(-(-length // MINUTE) * MINUTE)

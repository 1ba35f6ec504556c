"""Screens of confirmed broadcasts: the list, the page of one, and its progress.

The progress is the live message of the operator who confirmed the broadcast.
"""

import re
from collections.abc import Mapping
from datetime import timedelta, tzinfo
from decimal import Decimal
from html import unescape
from typing import Final

from bot.broadcasts.buttons import (
    BroadcastAction,
    BroadcastListButton,
    DeliveryAction,
    DeliveryButton,
    NewBroadcastButton,
)
from bot.broadcasts.model import PAGE_SIZE, Broadcast, BroadcastPage, BroadcastStatus, DeliveryStatus, Progress
from bot.broadcasts.screens import compose
from bot.broadcasts.screens.compose import cancel_row, waiting_rows
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader, quote_input
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen

REPORT_ORDER = (
    DeliveryStatus.DELIVERED,
    DeliveryStatus.BLOCKED,
    DeliveryStatus.FAILED,
    DeliveryStatus.UNKNOWN,
    DeliveryStatus.SENDING,
    DeliveryStatus.WAITING,
)
"""The order of the counts in a report."""
SIGNS = {
    "scheduled": "🕒",
    "running": "▶️",
    "paused": "⏸",
    "stopped": "⏹",
    "done": "✅",
    "draft": "✏️",
    "discarded": "🗑",
}


def show_list(reader: Reader, page: BroadcastPage) -> Screen:
    """Show one page of the list, newest first."""
    t = reader.t
    write = (Button(t.plain("broadcasts.new"), data=NewBroadcastButton().pack(), style="primary"),)
    if not page.total:
        return Screen(t("broadcasts.none_yet"), (write,))
    entries = [
        _entry(reader, number, each, page.counts.get(each.id, {}))
        for number, each in enumerate(page.broadcasts, page.offset + 1)
    ]
    numbers = tuple(
        compose.make_button(str(number), each, BroadcastAction.PAGE)
        for number, each in enumerate(page.broadcasts, page.offset + 1)
    )
    text = "\n\n".join([t("broadcasts.list_title", total=page.total), *entries])
    return Screen(text, (*((numbers,) if numbers else ()), *_page_rows(t, page), write))


def show_broadcast(reader: Reader, broadcast: Broadcast, counts: Mapping[DeliveryStatus, int]) -> Screen:
    """Show one broadcast and the buttons for it."""
    t = reader.t
    parts = [_title(t, broadcast), _facts(reader, broadcast)]
    if counts:
        parts.append("\n".join([t("broadcasts.report"), *_count_lines(t, counts)]))
    rows: Keyboard = ()
    if broadcast.is_waiting:
        rows = waiting_rows(t, broadcast)
    elif broadcast.can_be_cancelled:
        rows = (cancel_row(t, broadcast),)
    elif broadcast.started_at is not None and (broadcast.ended_at is None or counts.get(DeliveryStatus.UNKNOWN)):
        rows = (
            (Button(t.plain("broadcasts.progress"), data=DeliveryButton(broadcast.id, DeliveryAction.SHOW).pack()),),
        )
    show_messages = compose.make_button(t.plain("broadcasts.see"), broadcast, BroadcastAction.SHOW_MESSAGES)
    copy = compose.make_button(t.plain("broadcasts.like"), broadcast, BroadcastAction.COPY)
    listed = Button(t.plain("broadcasts.list"), data=BroadcastListButton(0).pack())
    return Screen("\n\n".join(parts), (*rows, (show_messages, copy), (listed,)))


def _entry(reader: Reader, number: int, broadcast: Broadcast, counts: Mapping[DeliveryStatus, int]) -> str:
    t = reader.t
    lines = [f"<b>{number}.</b> {_title(t, broadcast)}", _describe_times(reader, broadcast)]
    return "\n".join([*lines, *([" · ".join(_count_lines(t, counts))] if counts else [])])


def _title(t: Translator, broadcast: Broadcast) -> str:
    key, words = "broadcasts.of_rate", ""
    if not broadcast.is_rate:
        text = broadcast.texts.get(t.locale) or next(iter(broadcast.texts.values()), "")
        key, words = "broadcasts.of_own", quote_input(unescape(re.sub("<[^>]*>", "", text)))
    state = "waiting" if broadcast.is_waiting else str(broadcast.status)
    if broadcast.daily_minute is not None and broadcast.can_be_cancelled:
        state = "daily"
    return t(key, sign=SIGNS[broadcast.status], state=t.plain(f"broadcasts.state.{state}"), words=words)


def _facts(reader: Reader, broadcast: Broadcast) -> str:
    t = reader.t
    languages = ", ".join(t.language(locale) for locale in broadcast.languages)
    facts = [
        _describe_times(reader, broadcast),
        t("broadcasts.fact.to", audience=compose.describe_audience(t, broadcast.audience)),
        t("broadcasts.fact.languages", languages=languages),
        t("broadcasts.fact.picture", picture=compose.describe_picture(t, broadcast)),
    ]
    if broadcast.quote is not None:
        at = reader.format_time(broadcast.quote.fetched_at, round_up=False)
        facts.append(t("broadcasts.fact.quote", rate=t.rate(broadcast.quote.btc_idr), at=at))
    if broadcast.confirmed_by is not None:
        confirmed_at = broadcast.confirmed_at or broadcast.created_at
        at = reader.format_time(confirmed_at, round_up=False)
        facts.append(t("broadcasts.fact.by", who=reader.mention(broadcast.confirmed_by), at=at))
    if broadcast.series is not None:
        facts.append(t("broadcasts.fact.series"))
    return "\n".join(facts)


def _describe_times(reader: Reader, broadcast: Broadcast) -> str:
    t = reader.t
    if broadcast.started_at is not None and broadcast.ended_at is not None:
        began, ended = (reader.format_time(at, round_up=False) for at in (broadcast.started_at, broadcast.ended_at))
        return t("broadcasts.fact.from_until", began=began, ended=ended)
    if broadcast.started_at is not None:
        return t("broadcasts.fact.since", began=reader.format_time(broadcast.started_at, round_up=False))
    if broadcast.ended_at is not None:
        return t("broadcasts.fact.called_off", at=reader.format_time(broadcast.ended_at, round_up=False))
    if broadcast.daily_minute is not None and broadcast.starts_at is not None:
        next_time = reader.format_time(broadcast.starts_at)
        return t("broadcasts.fact.daily", when=compose.describe_time(reader, broadcast), next=next_time)
    return t("broadcasts.fact.at", when=compose.describe_time(reader, broadcast))


def _count_lines(t: Translator, counts: Mapping[DeliveryStatus, int]) -> list[str]:
    return [t(f"broadcasts.count.{status}", count=counts[status]) for status in REPORT_ORDER if counts.get(status)]


def _page_rows(t: Translator, page: BroadcastPage) -> Keyboard:
    last = page.offset + len(page.broadcasts)
    newer = max(page.offset - PAGE_SIZE, 0)
    buttons = [
        *([Button(t.plain("orders.history.newer"), data=BroadcastListButton(newer).pack())] if page.offset else []),
        *(
            [Button(t.plain("orders.history.older"), data=BroadcastListButton(last).pack())]
            if last < page.total
            else []
        ),
    ]
    return (tuple(buttons),) if buttons else ()


WIDTH: Final = 14
FULL, EMPTY = "▰", "▱"
ENDED: Final = (DeliveryStatus.DELIVERED, DeliveryStatus.BLOCKED, DeliveryStatus.FAILED, DeliveryStatus.UNKNOWN)
ACTIONS: Final[Mapping[BroadcastStatus, tuple[DeliveryAction, ...]]] = {
    BroadcastStatus.RUNNING: (DeliveryAction.PAUSE, DeliveryAction.STOP),
    BroadcastStatus.PAUSED: (DeliveryAction.RESUME, DeliveryAction.STOP),
}
CAN_RETRY: Final = frozenset({BroadcastStatus.RUNNING, BroadcastStatus.PAUSED, BroadcastStatus.DONE})


def show_progress(t: Translator, progress: Progress, zone: tzinfo) -> Screen:
    """Show status, progress bar, counts, rate and times, with the buttons that the status allows."""
    parts = [_heading(t, progress), _bar(t, progress), _counts(t, progress), _times(t, progress, zone)]
    unknown = progress.counts.get(DeliveryStatus.UNKNOWN, 0)
    if unknown:
        parts.append(t("broadcasts.delivery.unknown_note", count=unknown))
    return Screen("\n\n".join(part for part in parts if part), _keyboard(t, progress, unknown))


def draw_bar(done: int, total: int) -> str:
    """Return a progress bar. It is full only if `done` reaches `total`."""
    filled = WIDTH if done >= total else done * WIDTH // total
    return FULL * filled + EMPTY * (WIDTH - filled)


def estimate_time_left(progress: Progress) -> timedelta | None:
    """Return how long the rest takes at the recent rate; None if the rate isn't known."""
    if progress.broadcast.status is not BroadcastStatus.RUNNING or progress.per_second <= 0:
        return None
    return timedelta(seconds=(sum(progress.counts.values()) - _count_done(progress)) / progress.per_second)


def _count_done(progress: Progress) -> int:
    return sum(progress.counts.get(status, 0) for status in ENDED)


def _heading(t: Translator, progress: Progress) -> Html:
    status = progress.broadcast.status
    if status is BroadcastStatus.RUNNING and progress.is_resting:
        return t("broadcasts.delivery.resting")
    return t(f"broadcasts.delivery.{status}")


def _bar(t: Translator, progress: Progress) -> str:
    done, total = _count_done(progress), sum(progress.counts.values())
    if not total:
        return t("broadcasts.delivery.nobody")
    percent = Decimal(done * 100 // total)
    return t("broadcasts.delivery.bar", bar=draw_bar(done, total), percent=t.percent(percent), done=done, total=total)


def _counts(t: Translator, progress: Progress) -> str:
    """Return the counts: delivered and blocked always, the others if there are any."""
    shown = (DeliveryStatus.DELIVERED, DeliveryStatus.BLOCKED)
    return "\n".join(
        t(f"broadcasts.delivery.count_{status}", count=progress.counts.get(status, 0))
        for status in ENDED
        if status in shown or progress.counts.get(status)
    )


def _times(t: Translator, progress: Progress, zone: tzinfo) -> str:
    broadcast, left = progress.broadcast, estimate_time_left(progress)
    lines = []
    if left is not None:
        rate = Decimal(str(round(progress.per_second, 1)))
        lines.append(t("broadcasts.delivery.pace", rate=rate, left=t.duration(left)))
    if broadcast.started_at is not None:
        lines.append(t("broadcasts.delivery.begun_at", at=t.date_time(broadcast.started_at, zone)))
    if broadcast.ended_at is not None:
        lines.append(t("broadcasts.delivery.ended_at", at=t.date_time(broadcast.ended_at, zone)))
    return "\n".join(lines)


def _keyboard(t: Translator, progress: Progress, unknown: int) -> Keyboard:
    broadcast = progress.broadcast
    rows = []
    if actions := ACTIONS.get(broadcast.status, ()):
        rows.append(tuple(_button(t, broadcast.id, action) for action in actions))
    if unknown and broadcast.status in CAN_RETRY:
        rows.append(
            (
                Button(
                    t.plain("broadcasts.delivery.do_again", count=unknown),
                    data=DeliveryButton(broadcast.id, DeliveryAction.RETRY_UNKNOWN).pack(),
                ),
            )
        )
    if actions:
        rows.append((_button(t, broadcast.id, DeliveryAction.SHOW),))
    return tuple(rows)


def _button(t: Translator, broadcast_id: str, action: DeliveryAction) -> Button:
    label, data = t.plain(f"broadcasts.delivery.do_{action}"), DeliveryButton(broadcast_id, action).pack()
    return Button(label, data=data, style="danger" if action is DeliveryAction.STOP else None)

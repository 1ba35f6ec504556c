"""Screens of confirmed broadcasts: the list, and the page of one with its result."""

from collections.abc import Mapping

from bot.broadcasts.buttons import (
    BroadcastAction,
    BroadcastButton,
    BroadcastListButton,
    DeliveryAction,
    DeliveryButton,
    NewBroadcastButton,
)
from bot.broadcasts.drafts import PAGE_SIZE, BroadcastPage
from bot.broadcasts.model import Broadcast, DeliveryStatus
from bot.broadcasts.screens import compose
from bot.broadcasts.screens.confirm import cancel_row, waiting_rows
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.reader import Reader
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
        Button(str(number), data=BroadcastButton.for_broadcast(each, BroadcastAction.PAGE).pack())
        for number, each in enumerate(page.broadcasts, page.offset + 1)
    )
    text = "\n\n".join([t("broadcasts.list_title", total=page.total), *entries])
    return Screen(text, (*((numbers,) if numbers else ()), *_page_rows(t, page), write))


def show_broadcast(reader: Reader, broadcast: Broadcast, counts: Mapping[str, int]) -> Screen:
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
    show_messages = Button(
        t.plain("broadcasts.see"), data=BroadcastButton.for_broadcast(broadcast, BroadcastAction.SHOW_MESSAGES).pack()
    )
    copy = Button(
        t.plain("broadcasts.like"), data=BroadcastButton.for_broadcast(broadcast, BroadcastAction.COPY).pack()
    )
    listed = Button(t.plain("broadcasts.list"), data=BroadcastListButton(0).pack())
    return Screen("\n\n".join(parts), (*rows, (show_messages, copy), (listed,)))


def _entry(reader: Reader, number: int, broadcast: Broadcast, counts: Mapping[str, int]) -> str:
    t = reader.t
    lines = [f"<b>{number}.</b> {_title(t, broadcast)}", _describe_times(reader, broadcast)]
    return "\n".join([*lines, *([" · ".join(_count_lines(t, counts))] if counts else [])])


def _title(t: Translator, broadcast: Broadcast) -> str:
    key = "broadcasts.of_rate" if broadcast.is_rate else "broadcasts.of_own"
    state = "waiting" if broadcast.is_waiting else str(broadcast.status)
    if broadcast.daily_minute is not None and broadcast.can_be_cancelled:
        state = "daily"
    return t(key, sign=SIGNS[broadcast.status], state=t.plain(f"broadcasts.state.{state}"))


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


def _count_lines(t: Translator, counts: Mapping[str, int]) -> list[str]:
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

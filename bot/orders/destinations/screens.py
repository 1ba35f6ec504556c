"""What senders are told about a destination, and the operators' list of all of them."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Final

from bot.infra.drawing.chart import Row, RowFacts
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import clip, format_clock, format_time
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.buttons import DestinationsButton
from bot.orders.destinations.model import (
    MIN_SAMPLES,
    SAMPLE_PERIOD,
    DestinationHealth,
    DestinationsHealth,
    Estimate,
    PayoutTimes,
    Trouble,
    find_week_part,
)
from bot.recipients.formatting import MAX_BUTTON_NAME, format_method

PAGE: Final = 8
"""Destinations on one page."""

ROWS: Final = 12
"""Destinations in the picture."""

MINUTE: Final = timedelta(minutes=1)

Say = Callable[..., str]
"""`Translator.__call__` for chats, or `Translator.plain` for pages that escape texts themselves."""


def format_payout_times(t: Translator, times: PayoutTimes) -> Html:
    """Return the sentence for the chat and the payment page. Times are rounded up, so that they aren't too short."""
    median, slow, days = t.within(times.median), t.within(times.slow), SAMPLE_PERIOD.days
    if median == slow:
        return t("orders.help.measured_alike", days=days, slow=slow)
    return t("orders.help.measured", days=days, median=median, slow=slow)


def format_destination_health(t: Translator, health: DestinationHealth, now: datetime, say: Say) -> str | None:
    """Return what a sender should know about transfers that are paid now, or None if too little is known."""
    name = format_method(health.method)
    if health.failing is not None:
        return say("orders.destinations.failing", name=name)
    slow = health.slow
    if slow is not None and slow.length is not None:
        key = "orders.destinations.slow_longer" if slow.is_longer else "orders.destinations.slow"
        return say(key, name=name, length=_within(t, slow))
    times = health.usual.times.at(now) if health.usual.times and health.usual.is_known else None
    if times is None or not times.median.is_precise:
        return None
    different = health.usual.times.different if health.usual.times else {}
    part = find_week_part(now)
    key = f"orders.destinations.usual_{part}" if part in different else "orders.destinations.usual"
    return say(key, name=name, length=t.within(times.median.value))


def show_destinations(t: Translator, health: DestinationsHealth, page: int, zone: tzinfo) -> Screen:
    """Return a page of the list."""
    known = health.known()
    if not known:
        return Screen(t("orders.destinations.none", minimum=MIN_SAMPLES, days=SAMPLE_PERIOD.days))
    pages = -(-len(known) // PAGE)
    page = min(page, pages - 1)
    entries = [_entry(t, each, health.at, zone) for each in known[page * PAGE : (page + 1) * PAGE]]
    return Screen("\n\n".join([_head(t, health, zone), *entries]), _keyboard(t, page, pages))


def show_chart(t: Translator, health: DestinationsHealth, zone: tzinfo, picture: bytes) -> Screen:
    """Return the picture of the most used destinations."""
    return Screen(_head(t, health, zone), photo=picture)


def build_chart(t: Translator, health: DestinationsHealth, zone: tzinfo) -> RowFacts | None:
    """Return the chart of the most used destinations with known times, the slowest first. None if there are none."""
    known = [each for each in health.known() if each.usual.times is not None][:ROWS]
    timed = [(each, each.usual.times.usual) for each in known if each.usual.times is not None]
    if not timed:
        return None
    ordered = sorted(timed, key=lambda each: each[1].median.value, reverse=True)
    longest = max((times.ninety or times.median).value for _, times in ordered)
    finished = sum(each.usual.finished for each in known)
    failed = sum(each.usual.failed for each in known)
    return RowFacts(
        brand="Kirim",
        title=t.plain("orders.destinations.chart_title"),
        period=t.plain("orders.destinations.chart_period", days=SAMPLE_PERIOD.days),
        main_number=t.plain("orders.destinations.chart_count", count=len(known)),
        note=t.plain("orders.destinations.chart_note"),
        rows=tuple(
            Row(
                label=format_method(each.method),
                share=times.median.value / longest,
                reach=(times.ninety or times.median).value / longest,
                value=_brief(t, times.median.value, times.ninety),
                is_marked=each.slow is not None or each.failing is not None,
            )
            for each, times in ordered
        ),
        columns=(
            (t.plain("orders.destinations.chart_finished"), t.number(finished)),
            (t.plain("orders.destinations.chart_failed"), t.percent(_percent(failed, finished))),
        ),
        footer=t.plain("orders.destinations.chart_footer", time=t.date_time(health.at, zone)),
    )


def _head(t: Translator, health: DestinationsHealth, zone: tzinfo) -> Html:
    return t("orders.destinations.head", days=SAMPLE_PERIOD.days, time=format_clock(t, health.at, zone))


def _entry(t: Translator, each: DestinationHealth, now: datetime, zone: tzinfo) -> Html:
    usual = each.usual
    lines = [
        t(
            "orders.destinations.entry",
            name=clip(format_method(each.method), MAX_BUTTON_NAME),
            count=usual.finished,
            failed=_percent(usual.failed, usual.finished),
        )
    ]
    if usual.times is not None:
        lines.append(_times(t, usual.times.usual.median, usual.times.usual.ninety))
        lines += [
            t(f"orders.destinations.entry_{part}", length=_format_estimate(t, times.median))
            for part, times in usual.times.different.items()
        ]
    if usual.last_sent_at is not None:
        lines.append(t("orders.destinations.entry_last", time=format_time(t, usual.last_sent_at, now, zone)))
    for kind, trouble in (("slow", each.slow), ("failing", each.failing)):
        if trouble is not None:
            lines.append(_format_trouble(t, kind, trouble, now, zone))
    return Html("\n".join(lines))


def _times(t: Translator, median: Estimate, ninety: Estimate | None) -> Html:
    half = _format_estimate(t, median)
    if ninety is None:
        return t("orders.destinations.entry_median", median=half)
    return t("orders.destinations.entry_times", median=half, ninety=_format_estimate(t, ninety))


def _format_estimate(t: Translator, estimate: Estimate) -> str:
    """Return a time in minutes with its interval: "4 (3 to 5) min"."""
    value, low, high = (t.number(_minutes(each)) for each in (estimate.value, estimate.low, estimate.high))
    if low == high:
        return t.plain("orders.destinations.minutes", value=value)
    return t.plain("orders.destinations.minutes_between", value=value, low=low, high=high)


def _format_trouble(t: Translator, kind: str, trouble: Trouble, now: datetime, zone: tzinfo) -> Html:
    since = format_time(t, trouble.since, now, zone, round_up=False)
    key = f"orders.destinations.entry_{kind}{'' if trouble.is_alone else '_all'}"
    return t(key, since=since, hits=trouble.hits, count=trouble.count)


def _brief(t: Translator, median: timedelta, ninety: Estimate | None) -> str:
    values = [median, *([ninety.value] if ninety else [])]
    return t.plain("orders.destinations.minutes", value="–".join(t.number(_minutes(each)) for each in values))  # noqa: RUF001  meant as a dash


def _minutes(length: timedelta) -> int:
    """Return a length in minutes, rounded up as for senders, and at least 1."""
    return max(-(-length // MINUTE), 1)


def _percent(part: int, whole: int) -> Decimal:
    return (Decimal(100 * part) / whole).quantize(Decimal("0.1"))


def _within(t: Translator, slow: Trouble) -> str:
    """Return how long a slow transfer takes. What is only known to be longer isn't rounded up."""
    length = slow.length or timedelta(0)
    return t.duration(length) if slow.is_longer else t.within(length)


def _keyboard(t: Translator, page: int, pages: int) -> Keyboard:
    def to(number: int, label: str) -> Button:
        return Button(label, data=DestinationsButton(str(number)).pack())

    refresh = (to(page, t.plain("orders.button.refresh")),)
    steps: Sequence[Button] = (
        *((to(page - 1, t.plain("orders.destinations.previous")),) if page else ()),
        *((to(page + 1, t.plain("orders.destinations.next")),) if page + 1 < pages else ()),
    )
    return (tuple(steps), refresh) if steps else (refresh,)

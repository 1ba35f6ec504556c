"""Screens of `/stats` and `/export`: the bot's own statistics as a text and a chart, and the orders as a file.

The service's own statistics are in `platform.py`.
"""

from datetime import datetime, tzinfo
from decimal import Decimal
from typing import Final

from bot.core.csv import CsvFile
from bot.core.date_ranges import NAMED_SPANS, Period, Span
from bot.infra.drawing.chart import Bar, BarFacts, Mark
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import format_span
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.operations.buttons import StatisticsAction, StatisticsButton
from bot.operations.statistics import (
    BotStatistics,
    OrderOutcome,
    OrderStatistics,
    SubscriberStatistics,
    UserStatistics,
    calculate_share,
)
from bot.operations.statistics_service import MAX_ORDERS
from bot.rates.axes import round_step
from bot.support.tickets.screens import format_length, format_ticket_times

LEVELS: Final = 4
OUTCOME_SIGNS: Final = {
    OrderOutcome.SENT: "✅",
    OrderOutcome.UNDER_WAY: "⏳",
    OrderOutcome.FAILED: "❌",
    OrderOutcome.FAILED_UNKNOWN: "❔",
    OrderOutcome.WAITING: "🕓",
    OrderOutcome.UNPAID: "⌛",
    OrderOutcome.PRICE_CHANGED: "❓",
    OrderOutcome.UNCERTAIN: "🔎",
    OrderOutcome.REFUSED: "✖️",
    OrderOutcome.CLOSED: "🚫",
}
"""Outcome -> its sign, in the order in which they are shown. Paid orders are first."""


def show_statistics(t: Translator, period: Period, since: str, own: BotStatistics, picture: bytes) -> Screen:
    """Show the statistics with the chart. The text fits in a caption with any numbers."""
    head = t("operations.statistics.head", period=t.plain(f"operations.statistics.{period}"), since=since)
    parts = [head, _users(t, own.users, own.subscribers), _orders(t, own.orders)]
    if own.requests.has_any:
        new, paid = t.compact(own.requests.new), t.compact(own.requests.paid)
        parts.append(t("operations.statistics.requests", new=new, paid=paid))
    parts.append(format_ticket_times(t, own.tickets))
    return Screen("\n\n".join(part for part in parts if part), _keyboard(t, period), photo=picture)


def build_chart(t: Translator, period: Period, span: Span, orders: OrderStatistics, zone: tzinfo) -> BarFacts:
    """Return the chart of what was paid in each hour or on each day, in rupiah."""
    paid = orders.paid_by_part()
    top, levels = _build_levels(t, max(tally.idr for tally in paid))
    return BarFacts(
        brand="Kirim",
        title=t.plain("operations.statistics.volume_title"),
        period=t.plain(f"operations.statistics.{period}"),
        main_number=t.rupiah(orders.paid.idr),
        note=t.sats(orders.paid.sats),
        levels=levels,
        columns=(
            (t.plain("operations.statistics.column_placed"), t.number(orders.placed.orders)),
            (t.plain("operations.statistics.column_paid"), t.number(orders.paid.orders)),
            (t.plain("operations.statistics.column_sent"), t.number(_count_orders(orders, OrderOutcome.SENT))),
        ),
        footer=t.plain("operations.statistics.since", since=t.date_time(span.since, zone)),
        bars=tuple(
            Bar(tally.idr / top, _label(t, period, begins, zone), t.compact(tally.idr) if tally.idr else "")
            for begins, tally in zip(span.edges, paid, strict=False)
        ),
    )


def ask_period(t: Translator) -> Screen:
    """Ask for the period. The usual ones are buttons, and any other can be typed."""
    day, week, month, this, before = (
        Button(t.plain(f"staff.export.{name}"), data=StatisticsButton(StatisticsAction.CSV, name).pack())
        for name in NAMED_SPANS
    )
    return Screen(t("staff.export.ask"), ((day, week, month), (this, before)))


def format_caption(t: Translator, file: CsvFile, span: Span, zone: tzinfo) -> Html:
    """Return how many orders the file contains, of which period, and what it doesn't contain."""
    return t(
        "staff.export.caption", orders=t.plural("staff.export.orders", file.count), time=format_span(t, span, zone)
    )


def explain_no_file(t: Translator, file: CsvFile, span: Span, zone: tzinfo) -> Screen:
    """Say why there is no file: there are no orders, or too many for one file."""
    if file.count:
        text = t("staff.export.too_many", count=file.count, most=MAX_ORDERS, time=format_span(t, span, zone))
    else:
        text = t("staff.export.none", time=format_span(t, span, zone))
    return Screen(text, _other_period_rows(t))


def explain_not_sent(t: Translator) -> Screen:
    """Say that the file couldn't be sent."""
    return Screen(t("staff.export.not_sent"), _other_period_rows(t))


def _build_levels(t: Translator, highest: int) -> tuple[int, tuple[Mark, ...]]:
    """Return the sum at the top of the chart, above 0, and the round sums up to it."""
    if not highest:
        return 1, ()
    step = max(int(round_step(Decimal(highest) / LEVELS)), 1)
    count = -(-highest // step)
    return step * count, tuple(Mark(number / count, t.compact(step * number)) for number in range(count + 1))


def _label(t: Translator, period: Period, begins: datetime, zone: tzinfo) -> str:
    return t.hour(begins, zone) if period is Period.DAY else t.date(begins, zone, with_year=False)


def _users(t: Translator, users: UserStatistics, subscribers: SubscriberStatistics) -> Html:
    lines = [
        t("operations.statistics.people", known=users.known, new=users.new, active=users.active, away=users.away),
        t(
            "operations.statistics.subscribers",
            total=subscribers.total,
            new=subscribers.new,
            daily=subscribers.daily,
            alerts=subscribers.alerts,
        ),
    ]
    if users.new:
        reached = Decimal(calculate_share(users.paid, users.new)) / 100
        lines.append(
            t("operations.statistics.from_start", ordered=users.ordered, paid=users.paid, new=users.new, share=reached)
        )
    return Html("\n".join(lines))


def _orders(t: Translator, orders: OrderStatistics) -> Html:
    """Return the outcomes, how many orders were paid, their sums, and the median time."""
    if not orders.placed.orders:
        return t("operations.statistics.no_orders")
    lines = [t("operations.statistics.orders", count=orders.placed.orders)]
    lines += [
        t(
            "operations.statistics.outcome",
            sign=sign,
            name=t.plain(f"operations.statistics.outcome_{outcome}"),
            count=_count_orders(orders, outcome),
        )
        for outcome, sign in OUTCOME_SIGNS.items()
        if _count_orders(orders, outcome)
    ]
    paid = Decimal(calculate_share(orders.paid.orders, orders.placed.orders)) / 100
    lines.append(t("operations.statistics.paid", paid=orders.paid.orders, placed=orders.placed.orders, share=paid))
    lines.append(t("operations.statistics.volume", idr=orders.paid.idr, sats=orders.paid.sats))
    if orders.median is not None:
        lines.append(t("operations.statistics.median", median=format_length(t, orders.median), count=orders.timed))
    return Html("\n".join(lines))


def _count_orders(orders: OrderStatistics, outcome: OrderOutcome) -> int:
    tally = orders.by_outcome.get(outcome)
    return tally.orders if tally else 0


def _other_period_rows(t: Translator) -> Keyboard:
    return ((Button(t.plain("staff.export.other"), data=StatisticsButton(StatisticsAction.EXPORT).pack()),),)


def _keyboard(t: Translator, shown: Period) -> Keyboard:
    """Return buttons for the three periods and for the file. The current period is marked, and its button refreshes."""
    times = tuple(
        Button(
            ("• " if period is shown else "") + t.plain(f"operations.statistics.button_{period}"),
            data=StatisticsButton(StatisticsAction.SHOW, period).pack(),
        )
        for period in Period
    )
    return (
        times,
        (
            Button(
                t.plain("operations.statistics.button_export"), data=StatisticsButton(StatisticsAction.EXPORT).pack()
            ),
        ),
    )

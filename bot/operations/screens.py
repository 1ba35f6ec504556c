"""Screens of operators: the status with what is wrong, `/stats` and `/export`, and what the service reports of itself.

The service chooses the names, types and sizes of its statistics. All values are read as data, escaped, and shortened to
fit in a message.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from decimal import Context, Decimal
from itertools import islice
from typing import Final

from bot.core.csv import CsvFile
from bot.core.date_ranges import NAMED_SPANS, Period, Span
from bot.core.text import plain
from bot.infra.drawing.chart import Bar, BarFacts, Mark, round_step
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader, format_clock, format_span
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.operations.buttons import StatisticsAction, StatisticsButton
from bot.operations.gauges import LiveFigures
from bot.operations.model import (
    BotStatistics,
    OrderOutcome,
    OrderStatistics,
    OwnTotals,
    SubscriberStatistics,
    UserStatistics,
    calculate_share,
)
from bot.operations.monitor import HealthSummary
from bot.operations.service import MAX_ORDERS, ServiceStatistics
from bot.payments.tokens import CHAIN_NAMES, LIGHTNING, TOKENS, name_key
from bot.settlement.model import DepositRails, PlatformStats, Rail
from bot.staff import screens
from bot.staff.buttons import AlarmAction, AlarmButton
from bot.staff.model import DESTINATION_ALARMS, ORDER_ALARMS, Alarm, AlarmKind, Subjects
from bot.support.screens.lookups import format_length, format_ticket_times
from bot.users.buttons import send_row

OK, WRONG, UNKNOWN, NOTHING_TO_DO = "✅", "🚨", "❔", "▫️"


def show_status(
    reader: Reader, summary: HealthSummary, figures: LiveFigures, subjects: Subjects, *, service_contact: str = ""
) -> Screen:
    """Say what is wrong and what to do, with buttons to resolve alarms. The checks and the figures follow.

    While alarms are open, the kinds without trouble share one line, so that the message stays short enough.
    """
    t = reader.t
    parts: list[str] = [_headline(t, summary, format_clock(t, reader.now, reader.zone))]
    if summary.alarms:
        parts.append(screens.format_alarms(reader, summary.alarms, subjects, service_contact=service_contact))
    parts += [
        f"{t('operations.status.checks')}\n{_table(t, summary)}",
        _format_figures(t, summary, figures, reader.now),
    ]
    rows = (
        *screens.take_rows(t, summary.alarms, AlarmAction.TAKE_IN_STATUS),
        *screens.resolve_rows(t, summary.alarms, AlarmAction.RESOLVE_IN_STATUS),
        (Button(t.plain("orders.button.refresh"), data=AlarmButton(AlarmAction.STATUS).pack()),),
        (Button(t.plain("staff.alarm.own_orders"), data=AlarmButton(AlarmAction.OWN_ORDERS).pack()),),
        send_row(t, style=None),
    )
    return Screen("\n\n".join(parts), rows)


def show_start(t: Translator, raised: int) -> Screen:
    """Return an operator's start: how many alarms are open, with a button to the status."""
    found = t.plural("operations.start.wrong", raised) if raised else t("operations.start.fine")
    status = Button(t.plain("staff.alarm.status"), data=AlarmButton(AlarmAction.STATUS).pack())
    return Screen(t("operations.start.text", found=found), ((status,),))


def show_help(t: Translator) -> Screen:
    """Return what an operator can do, with the commands."""
    return Screen(t("operations.help.text"))


def _headline(t: Translator, summary: HealthSummary, time: Html) -> Html:
    """Return in words whether there is something to do."""
    if summary.alarms:
        return t.plural("operations.status.wrong", len(summary.alarms), time=time)
    if summary.reported:
        return t.plural("operations.status.reports", summary.reported, time=time)
    is_checked = all(_find_mark(kind, summary) != UNKNOWN for kind in AlarmKind)
    return t("operations.status.fine" if is_checked else "operations.status.unchecked", time=time)


def _table(t: Translator, summary: HealthSummary) -> Html:
    """Return a line for each check that isn't fine, and the others folded, or in one line while alarms are open."""
    shown = [_row(t, kind, summary) for kind in AlarmKind if _find_mark(kind, summary) != OK]
    fine = [_row(t, kind, summary) for kind in AlarmKind if _find_mark(kind, summary) == OK]
    reports = t("operations.status.reported", mark=WRONG if summary.reported else OK, count=summary.reported)
    (shown if summary.reported else fine).append(reports)
    if fine and not summary.alarms:
        shown.append(Html("<blockquote expandable>" + "\n".join(fine) + "</blockquote>"))
    elif fine:
        shown.append(f"{OK} {t('operations.status.others_fine', count=len(fine))}")
    return Html("\n".join(shown))


def _format_figures(t: Translator, summary: HealthSummary, figures: LiveFigures, now: datetime) -> Html:
    """Return the figures, one on each line, below their heading."""
    oldest, payment = summary.backlog.since, figures.last_payment_noticed
    median, p99 = figures.answer_median, figures.answer_p99
    lines = [
        t("operations.status.figures"),
        t("operations.status.none_waiting")
        if oldest is None
        else t("operations.status.oldest_waiting", length=t.measured(max((now - oldest).total_seconds(), 0.0))),
        t("operations.status.no_payment_noticed")
        if payment is None
        else t("operations.status.payment_noticed", length=t.measured(payment)),
        t("operations.status.no_answers")
        if median is None or p99 is None
        else t("operations.status.answers", median=t.measured(median), limit=t.measured(p99)),
        t("operations.status.slow_downs", count=figures.slow_downs, limit=round(figures.bulk_limit)),
        t("operations.status.service_budget", count=t.number(round(Decimal(figures.service_budget), 1).normalize())),
        t(
            "operations.status.requests",
            open=figures.requests.open,
            telegram=figures.requests.in_telegram,
            browsers=figures.requests.in_browsers,
        ),
        t(f"operations.status.shared_{'told' if figures.has_shared_requests else 'untold'}"),
        t("staff.alarm.lately", count=summary.raised_recently),
    ]
    return Html("\n".join(lines))


def _row(t: Translator, kind: AlarmKind, summary: HealthSummary) -> str:
    raised = [alarm for alarm in summary.alarms if alarm.kind is kind]
    return f"{_find_mark(kind, summary)} {t(f'staff.alarm.{kind}_name')}: {_state(t, kind, raised, summary)}"


def _find_mark(kind: AlarmKind, summary: HealthSummary) -> str:
    if any(alarm.kind is kind for alarm in summary.alarms):
        return WRONG
    if kind is AlarmKind.INVOICE_NOT_REMOVED and summary.not_removed:
        return NOTHING_TO_DO
    return UNKNOWN if _is_unknown(kind, summary) else OK


def _state(t: Translator, kind: AlarmKind, raised: list[Alarm], summary: HealthSummary) -> Html | str:
    if kind is AlarmKind.OUTBOX_BACKLOG:
        return t.number(summary.backlog.count)
    if kind is AlarmKind.METHODS_SHRUNK and summary.methods is not None:
        return t.number(summary.methods)
    if _is_unknown(kind, summary) and not raised:
        return t("staff.alarm.unknown")
    if kind is AlarmKind.INVOICE_NOT_REMOVED and summary.not_removed:
        return t("operations.status.not_removed", count=len(raised), blocked=summary.not_removed)
    if kind in ORDER_ALARMS | DESTINATION_ALARMS:
        return t.number(len(raised))
    return t(f"staff.alarm.{screens.get_text_name(raised[0])}_wrong") if raised else t(f"staff.alarm.{kind}_fine")


def _is_unknown(kind: AlarmKind, summary: HealthSummary) -> bool:
    known = {
        AlarmKind.KEY_REFUSED: summary.is_key_accepted,
        AlarmKind.SERVICE_DOWN: summary.is_service_up,
        AlarmKind.METHODS_SHRUNK: summary.methods,
    }
    return kind in known and known[kind] is None


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


def format_caption(reader: Reader, file: CsvFile, span: Span) -> Html:
    """Return how many orders the file contains, of which period, and what it doesn't contain."""
    t, count = reader.t, reader.t.plural("staff.export.orders", file.count)
    return t("staff.export.caption", orders=count, time=format_span(t, span, reader.zone))


def explain_no_file(reader: Reader, file: CsvFile, span: Span) -> Screen:
    """Say why there is no file: there are no orders, or too many for one file."""
    t, time = reader.t, format_span(reader.t, span, reader.zone)
    if file.count:
        return Screen(t("staff.export.too_many", count=file.count, most=MAX_ORDERS, time=time), _other_period_rows(t))
    return Screen(t("staff.export.none", time=time), _other_period_rows(t))


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


NO_VALUE: Final = "–"  # noqa: RUF001  meant as a dash
MAX_READ: Final = 400
"""Characters of a text that are read. This limits the time for long texts."""

MAX_UNITS: Final = 80
"""Maximum length of a value, in UTF-16 units."""

MAX_ITEMS: Final = 5
MAX_DIGITS: Final = 24
"""A number with more digits is shown in scientific notation."""

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z\W_]+|\d+")
_NUMBER: Final = re.compile(r"-?\d{1,24}(\.\d{1,24})?", re.ASCII)
_RUPIAH, _SATS, _PERCENT = {"idr", "rupiah"}, {"sat", "sats", "satoshi", "satoshis"}, {"percent", "pct"}
_EXACT: Final = Context(prec=12)

MAX_LINES: Final = 16
"""Values in one message."""

MAX_DEPTH: Final = 2
NAMES: Final = {
    "totalOrders": "operations.platform.total_orders",
    "completedOrders": "operations.platform.completed_orders",
    "totalVolumeIdr": "operations.platform.total_volume_idr",
    "totalVolumeSats": "operations.platform.total_volume_sats",
    "tagline": "operations.platform.tagline",
    "updatedAt": "operations.platform.updated_at",
    "fetchedAt": "operations.platform.fetched_at",
    "bitcoinOnchain": "operations.platform.bitcoin_onchain",
    LIGHTNING: name_key(LIGHTNING),
    "arbitrumUsdt": "operations.platform.arbitrum_usdt",
    **{token.rail: name_key(token.code) for token in TOKENS.values()},
}
"""Names with a text in the catalogue. Any other name is shown as words."""


def show_service_statistics(t: Translator, service: ServiceStatistics, zone: tzinfo) -> Screen:
    """Show the statistics and the rails, or say that the service didn't answer."""
    if service.stats is None:
        statistics = t("operations.platform.no_stats")
    else:
        statistics = _statistics(t, service.stats, zone, service.own)
    rails = t("operations.platform.no_rails") if service.rails is None else _rails(t, service.rails)
    return Screen(f"{t('operations.platform.head')}\n{statistics}\n\n{t('operations.platform.rails')}\n{rails}")


def _statistics(t: Translator, stats: PlatformStats, zone: tzinfo, own: OwnTotals | None) -> Html:
    values, ours = _flatten(stats.values), _own_values(t, own)
    lines, has_own = list[Html](), False
    for path, value in islice(values, MAX_LINES):
        name, shown = _name(t, path), format_value(t, path[-1], value, zone)
        beside = ours.get(path[0]) if len(path) == 1 else None
        has_own = has_own or beside is not None
        lines.append(
            t("operations.platform.figure", name=name, value=shown)
            if beside is None
            else t("operations.platform.figure_and_ours", name=name, value=shown, ours=beside)
        )
    left = sum(1 for _ in values)
    if left:
        lines.append(t.plural("operations.platform.more", left))
    if has_own:
        lines.append(t("operations.platform.about_ours"))
    return Html("\n".join(lines)) if lines else t("operations.platform.empty")


def _own_values(t: Translator, own: OwnTotals | None) -> Mapping[str, str]:
    """Return what we count of the service's figures, by its names for them."""
    if own is None:
        return {}
    return {
        "totalOrders": t.number(own.created),
        "completedOrders": t.number(own.sent.orders),
        "totalVolumeIdr": t.rupiah(own.sent.idr),
        "totalVolumeSats": t.sats(own.sent.sats),
    }


def _flatten(values: Mapping[str, object], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield every value with its path of names. Values below `MAX_DEPTH` stay together."""
    for key, value in values.items():
        path = (*above, key)
        if isinstance(value, Mapping) and value and len(path) < MAX_DEPTH:
            yield from _flatten(value, path)
        else:
            yield path, value


def _name(t: Translator, path: tuple[str, ...]) -> str:
    if len(path) == 1 and path[0] in NAMES:
        return t.plain(NAMES[path[0]])
    return truncate(" · ".join(map(format_key, path)), 48)


def _rails(t: Translator, rails: DepositRails) -> Html:
    lines = [] if rails.is_configured else [t("operations.platform.unconfigured")]
    lines += [_rail(t, rail) for rail in rails.rails]
    if rails.error:
        lines.append(t("operations.platform.error", error=shorten(rails.error, 120)))
    return Html("\n".join(lines)) if lines else t("operations.platform.empty")


def _rail(t: Translator, rail: Rail) -> Html:
    """Return a rail by its names. Addresses are for machines, so they aren't shown."""
    name = t.plain(NAMES[rail.name]) if rail.name in NAMES else truncate(format_key(rail.name), 48)
    facts = [fact for fact in (shorten(rail.token, 16), _chain(rail), shorten(rail.summary, 80)) if fact not in name]
    if not facts:
        return t("operations.platform.rail", name=name)
    return t("operations.platform.rail_facts", name=name, facts=" · ".join(facts))


def _chain(rail: Rail) -> str:
    if rail.chain_id is None:
        return ""
    return CHAIN_NAMES.get(rail.chain_id, shorten(str(rail.chain_id), 20))


def shorten(text: str, units: int = MAX_UNITS) -> str:
    """Return an external text on one line, without hidden characters, shortened to so many units."""
    shown = truncate(plain(text[:MAX_READ]), units)
    return shown if len(text) <= MAX_READ or shown.endswith("…") else f"{shown[: units - 1]}…"


def truncate(text: str, units: int) -> str:
    """Return the beginning of a plain text, up to so many units."""
    if _count_units(text) <= units:
        return text
    shown = text[:units]
    while _count_units(shown) > units - 1:
        shown = shown[:-1]
    return f"{shown.rstrip()}…"


def format_key(key: str) -> str:
    """Return a key as words: "totalVolumeIdr" is "Total volume IDR". A key without letters stays as it is."""
    words = _WORDS.findall(plain(key[:MAX_READ]))
    if not words:
        return shorten(key) or NO_VALUE
    lowered = [word.upper() if word.lower() in {"idr", "btc", "usd", "id"} else word.lower() for word in words]
    sentence = " ".join(lowered)
    return sentence[0].upper() + sentence[1:]


def format_value(t: Translator, key: str, value: object, zone: tzinfo) -> str:
    """Return `value` in the format of its type, and of the unit at the end of its key."""
    if isinstance(value, bool):
        return t.plain("operations.platform.yes" if value else "operations.platform.no")
    unit = _get_unit(key)
    if isinstance(value, str) and unit and _NUMBER.fullmatch(value.strip()):
        value = Decimal(value.strip())
    match value:
        case int() | Decimal():
            return _format_number(t, unit, Decimal(value))
        case str():
            return _format_text(t, value, zone)
        case Mapping() | Sequence():
            return _format_items(t, key, value, zone)
        case _:
            return NO_VALUE


def _get_unit(key: str) -> str:
    words = _WORDS.findall(key[:MAX_READ])
    last = words[-1].lower() if words else ""
    return last if last in _RUPIAH | _SATS | _PERCENT else ""


def _format_number(t: Translator, unit: str, value: Decimal) -> str:
    if abs(value.adjusted()) > MAX_DIGITS:
        return _format_scientific(value)
    if len(value.as_tuple().digits) > MAX_DIGITS:
        value = _EXACT.plus(value)
    if unit in _RUPIAH:
        return t.rate(value) if value >= 0 else t.number(value)
    if unit in _PERCENT:
        return t.percent(value)
    is_whole = value == value.to_integral_value()
    if unit in _SATS and is_whole:
        return t.sats(int(value))
    return t.number(int(value) if is_whole else value)


def _format_scientific(value: Decimal) -> str:
    """Return the number in scientific notation with four digits; zero is "0"."""
    if not value:
        return "0"
    sign, digits, _ = value.as_tuple()
    first = "".join(map(str, digits[:4])).ljust(4, "0")
    return f"{'-' if sign else ''}{first[0]}.{first[1:]}e{value.adjusted()}"


def _format_text(t: Translator, value: str, zone: tzinfo) -> str:
    """Return a text. A time in ISO 8601 is formatted for the reader."""
    if "T" in value[:MAX_READ] and len(value) <= 40:  # noqa: PLR2004  the longest spelling of a moment is 32
        try:
            moment = datetime.fromisoformat(value.strip())
            return t.date_time(moment if moment.tzinfo else moment.replace(tzinfo=UTC), zone)
        except (ValueError, OverflowError):
            pass
    return shorten(value) or NO_VALUE


def _format_items(t: Translator, key: str, values: Mapping[str, object] | Sequence[object], zone: tzinfo) -> str:
    """Return a short list of plain values, or how many there are."""
    few = isinstance(values, Sequence) and len(values) <= MAX_ITEMS
    if not values or not few or any(isinstance(value, Mapping | list) for value in values):
        return t.plural("operations.platform.items", len(values))
    return shorten(", ".join(format_value(t, key, value, zone) for value in values))


def _count_units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2

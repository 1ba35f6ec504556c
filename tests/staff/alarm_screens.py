"""The screens of alarms with external values. `every_screen.py` reads them with all other screens."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo

from bot.infra.i18n import Translator
from bot.infra.outbox.model import Backlog
from bot.infra.telegram.ui.screen import Screen
from bot.operations.live_figures import LiveFigures
from bot.operations.monitor import HealthSummary
from bot.operations.screens import status as operator_status
from bot.orders.notifications.warnings import OrderInAlarm
from bot.orders.order import Order
from bot.staff.alarm_model import ORDER_ALARMS, Alarm, AlarmKind
from bot.staff.screens import alarms

FIGURES = LiveFigures(
    oldest_notification=75.4,
    last_payment_noticed=3.14,
    answer_median=0.234,
    answer_p99=1.5,
    slow_downs=1_234,
    send_limit=119.6,
    service_budget=9.75,
)
NO_FIGURES = LiveFigures(
    oldest_notification=None,
    last_payment_noticed=None,
    answer_median=None,
    answer_p99=None,
    slow_downs=0,
    send_limit=60,
    service_budget=10,
)


RECONCILED = (
    AlarmKind.ORDER_MISSING,
    AlarmKind.AMOUNT_DIFFERS,
    AlarmKind.STATE_DIFFERS,
    AlarmKind.PAID_UNFOLLOWED,
    AlarmKind.DEPOSIT_SHARED,
)


def facts_of(kind: AlarmKind, now: datetime, typed: str) -> dict[str, object]:
    """Return the facts of an alarm of this kind."""
    since = (now - timedelta(minutes=20)).isoformat()
    compared = {
        "ours": typed * 100,
        "theirs": typed * 100,
        "other": typed * 100,
        "ours_idr": 10**15,
        "ours_sats": 10**15,
        "theirs_idr": 1,
        "theirs_sats": 1,
    }
    known: dict[AlarmKind, dict[str, object]] = {
        AlarmKind.INVOICE_MISMATCH: {"complaint": typed * 100},
        **dict.fromkeys(RECONCILED, compared),
        AlarmKind.INVOICE_NOT_REMOVED: {"why": "24 tries failed"},
        AlarmKind.MESSAGE_REFUSED: {"message": "sent", "why": "Bad Request: chat not found"},
        AlarmKind.METHODS_SHRUNK: {"before": 1_500, "now": 12},
        AlarmKind.OUTBOX_BACKLOG: {"count": 10_000, "since": since},
        AlarmKind.POLLER_SILENT: {"since": since},
        AlarmKind.ROW_LEFT: {"count": 2, "rows": "outbox 7, sealing_keys 1a2b3c4d"},
        AlarmKind.ROW_UNREADABLE: {"count": 6, "rows": "orders.holder 5, orders.number 7"},
        AlarmKind.SERVICE_DOWN: {"since": since},
        AlarmKind.DESTINATION_SLOW: {
            "destination": typed[:60] or "BCA",
            "since": since,
            "minutes": 41,
            "longer": len(typed) % 2 == 0,
            "usual": 4,
            "hits": 4,
            "count": 5,
        },
        AlarmKind.DESTINATION_FAILING: {"destination": typed[:60] or "BCA", "since": since, "hits": 4, "count": 5},
    }
    return known.get(kind, {})


def every_alarm(order: Order, now: datetime, typed: str) -> list[Alarm]:
    """Return an alarm of each kind, and one about an empty list of payout methods."""
    raised = [
        Alarm(
            kind=kind,
            subject=order.reference if kind in ORDER_ALARMS else "",
            facts=facts_of(kind, now, typed),
            raised_at=now - timedelta(days=2),
        )
        for kind in AlarmKind
    ]
    empty = Alarm(kind=AlarmKind.METHODS_SHRUNK, facts={"before": 1_500, "now": 0}, raised_at=now)
    no_orders = Alarm(kind=AlarmKind.SERVICE_DOWN, facts={"since": now.isoformat(), "orders": True}, raised_at=now)
    return [*raised, empty, no_orders]


def a_summary(*raised: Alarm, known: bool = True) -> HealthSummary:
    return HealthSummary(
        alarms=raised,
        is_key_accepted=True if known else None,
        is_service_up=True if known else None,
        methods=1_234 if known else None,
        backlog=Backlog(3),
        raised_recently=len(raised),
    )


def alarm_screens(t: Translator, order: Order, now: datetime, zone: tzinfo, typed: str) -> Iterator[tuple[str, Screen]]:
    """Yield each alarm when it is raised and over, reminders and the status, with and without the order."""
    raised = every_alarm(order, now, typed)
    longest = [alarm for alarm in raised if alarm.kind is AlarmKind.INVOICE_MISMATCH]
    for orders in ({order.reference: OrderInAlarm(order)}, {}):
        for alarm in raised:
            yield f"alarm: {alarm.kind}", alarms.show_raised(t, alarm, orders, now, zone)
            ended = replace(alarm, cleared_at=now)
            for by_hand in (False, True):
                yield f"over: {alarm.kind}", alarms.show_over(t, ended, orders, by_hand=by_hand)
        for some in (raised[:1], raised, raised * 30, longest * 30):
            yield "reminder", alarms.show_reminder(t, some, orders, now, zone)
            yield "operator's status", operator_status.show_status(t, a_summary(*some), FIGURES, orders, now, zone)
    yield "nothing left", alarms.show_none_left(t)
    yield "key refused", alarms.show_key_refused(t)
    yield "key works", alarms.show_key_works(t)
    for known in (True, False):
        yield (
            "all is well",
            operator_status.show_status(t, a_summary(known=known), FIGURES if known else NO_FIGURES, {}, now, zone),
        )

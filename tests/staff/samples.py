"""Values of alarms and of the audit log, for `every_screen.py`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from bot.home.feature import AUDIT_TERMS
from bot.orders.alarms import OrderInAlarm
from bot.orders.order import Order
from bot.staff.audit import PAGE_SIZE, AuditPage, AuditTerms
from bot.staff.model import ORDER_ALARMS, Alarm, AlarmKind, AuditAction, AuditEntry, Subjects
from bot.staff.screens import show_handled
from bot.staff.staff_chat import StaffChat, SupportContacts
from tests.orders.builders import an_open_order
from tests.screens import NOW, Outside

CONTACTS: Final = ("", "@kirim_help", "help@kirim.example", "https://kirim.example/help?a=1&b=<2>")
SERVICE_CONTACTS: Final = ("", "+62 21 1234 5678", f"https://service.example/{'a' * 176}")
RECONCILED: Final = (
    AlarmKind.ORDER_MISSING,
    AlarmKind.AMOUNT_DIFFERS,
    AlarmKind.STATE_DIFFERS,
    AlarmKind.PAID_UNFOLLOWED,
    AlarmKind.DEPOSIT_SHARED,
)
SUBJECTS: Final = (
    "order:R2345AB",
    "service_order:cm7k2jt8x0000qz01abcd1234",
    "ticket:T-4F7K2",
    "person:",
    "broadcast:0123456789",
    "answer:thanks",
    "alarm:order_failed:R2345AB",
    "alarm:key_refused:",
    "alarm:<b>:",
    "orders:",
    "payment_request:7f3a2c9d",
    "trail:",
    "something new",
    "",
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
        AlarmKind.RIGHT_MISSING: {"table": "orders"},
        AlarmKind.ROW_UNREADABLE: {"count": 6, "rows": "orders.holder 5, orders.number 7"},
        AlarmKind.SECOND_POLLER: {"since": since},
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
        AlarmKind.DESTINATION_UNCLEAR: {"destination": typed[:60] or "BCA", "complaint": "kind “qris”"},
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


def some_alarms(outside: Outside) -> list[Alarm]:
    """Return an alarm of each kind, raised and over."""
    raised = every_alarm(an_open_order(outside.method), NOW, outside.typed)
    return [*raised, *(replace(alarm, cleared_at=NOW) for alarm in raised)]


def some_lists(outside: Outside) -> tuple[Sequence[Alarm], ...]:
    """Return lists of one alarm, of all, of very many, and of those with the longest texts."""
    raised = every_alarm(an_open_order(outside.method), NOW, outside.typed)
    longest = [alarm for alarm in raised if alarm.kind is AlarmKind.INVOICE_MISMATCH]
    return raised[:1], raised, raised * 30, longest * 30


def an_audit_entry(now: datetime, **changes: object) -> AuditEntry:
    """Return an entry: Rina has seen a full recipient."""
    known = AuditEntry(
        id="20260817T030500000000-00000000",
        at=now,
        actor_id=3001,
        action=AuditAction.REVEALED,
        subject="order:R2345AB",
        user_id=1001,
        detail="trace",
    )
    return replace(known, **changes)  # type: ignore[arg-type]


def some_audit_pages(outside: Outside) -> Iterator[AuditPage]:
    """Yield a page with each action, with each fixed term as detail, and an empty one."""
    detail = (outside.typed * 100)[:5000]
    for action in AuditAction:
        entries = tuple(an_audit_entry(NOW, action=action, subject=each, detail=detail) for each in SUBJECTS)
        yield AuditPage(entries[:PAGE_SIZE], older="20260817T030500000000-00000000")
    for word in sorted(AUDIT_TERMS.details):
        yield AuditPage((an_audit_entry(NOW, detail=word),), actor_id=3001, is_newest=False)
    yield AuditPage(())


def some_contacts(staff: frozenset[int], contact: str) -> SupportContacts:
    """Return the contacts that users can ask."""
    return SupportContacts(StaffChat(0, staff), contact)


SOME_CONTACTS: Final = tuple(
    some_contacts(staff, contact) for staff in (frozenset[int](), frozenset({2001})) for contact in CONTACTS
)

SAMPLES: Final[dict[object, Callable[[Outside], Iterable[object]]]] = {
    Alarm: some_alarms,
    Sequence[Alarm]: some_lists,
    (str, "service_contact"): lambda _: SERVICE_CONTACTS,
    (show_handled, "subject"): lambda _: ("ABC2345",),
    Subjects: lambda outside: ({}, {"ABC2345": OrderInAlarm(an_open_order(outside.method))}),
    AuditPage: some_audit_pages,
    AuditTerms: lambda _: (AUDIT_TERMS,),
    SupportContacts: lambda _: SOME_CONTACTS,
}

MUST_SAY: Final[dict[object, Callable[..., tuple[str, ...]]]] = {
    AuditPage: lambda page, _: tuple({str(entry.actor_id) for entry in page.entries}),
}

"""The screens of reveals and of the audit log, with input from outside. `every_screen.py` checks them."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo

from bot.core.csv import CsvFile
from bot.core.date_ranges import Period, get_recent_span
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import Order
from bot.staff.audit import PAGE_SIZE, AuditPage
from bot.staff.model import AuditAction, AuditEntry
from bot.staff.screens import audit
from bot.support.reveal import screens as staff_reveal
from bot.support.reveal.model import Reveal
from bot.users.model import User
from tests.staff.audit_terms import TERMS

SUBJECTS = (
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
    "trail:",
    "something new",
    "",
)


def an_entry(now: datetime, **changes: object) -> AuditEntry:
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


def a_reveal(order: Order, now: datetime) -> Reveal:
    """Return a reveal of this order that has just begun."""
    until = now + timedelta(minutes=1)
    return Reveal(id="0" * 16, reference=order.reference, staff_id=3001, message_id=7, at=now, until=until)


def of_seeing_more(
    t: Translator, order: Order, now: datetime, zone: tzinfo, typed: str
) -> Iterator[tuple[str, Screen, tuple[str, ...]]]:
    """Yield each screen with a name, and the texts that it must contain."""
    reveal, forgotten = a_reveal(order, now), replace(order, number="", holder=None)
    rina = User(id=3001, created_at=now, time_zone="Asia/Tokyo")
    yield "why", staff_reveal.ask_reason(t, order), (order.reference,)
    yield "type why", staff_reveal.ask_typed_reason(t, order), (order.reference,)
    yield "opened", staff_reveal.show_placeholder(t, order), (order.reference,)
    for user in (rina, None):
        yield "revealed", staff_reveal.show_recipient(t, reveal, order, user), (order.reference, order.number)
    yield (
        "revealed, nameless",
        staff_reveal.show_recipient(t, reveal, replace(order, holder=None), rina),
        (order.number,),
    )
    for left in (order, forgotten, None):
        yield "masked", staff_reveal.show_masked(t, reveal, left), (order.reference,)
    yield "no private chat", staff_reveal.explain_unreachable(t, "kirim_bot"), ()
    for action in AuditAction:
        entries = tuple(an_entry(now, action=action, subject=each, detail=(typed * 100)[:5000]) for each in SUBJECTS)
        yield (
            f"audit: {action}",
            audit.show_page(
                Reader(t, zone, now), AuditPage(entries[:PAGE_SIZE], older="20260817T030500000000-00000000"), TERMS
            ),
            ("3001",),
        )
    for word in sorted(TERMS.details):
        page = AuditPage((an_entry(now, detail=word),), actor_id=3001, is_newest=False)
        yield f"audit: {word}", audit.show_page(Reader(t, zone, now), page, TERMS), ("3001",)
    yield "empty trail", audit.show_page(Reader(t, zone, now), AuditPage(()), TERMS), ()
    yield "trail of what time", audit.ask_period(t), ()
    for count in (0, 100_001):
        made = CsvFile(count, None)
        yield "no file", audit.explain_no_file(Reader(t, zone, now), made, get_recent_span(Period.WEEK, now, zone)), ()
    yield "no file sent", audit.explain_not_sent(t), ()

"""The screens of staff in tickets, saved replies and lists, with input from outside. `every_screen.py` checks them."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from html import escape

from bot.core.errors import Rejection
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import Order
from bot.settlement.model import PayoutMethod
from bot.support.cases.reader import Case
from bot.support.lookup.model import Page, TicketPage
from bot.support.lookup.screens import orders as lookup_orders
from bot.support.lookup.screens import tickets as lookup_tickets
from bot.support.lookup.screens import user as lookup_user
from bot.support.model import TicketFilter
from bot.support.notification_kinds import EntryRemark, Remark
from bot.support.notifications.screens import staff_lines
from bot.support.saved_replies import screens as replies
from bot.support.saved_replies.model import MAX_COUNT, SavedReply
from bot.support.staff.screens import talk, ticket_page
from bot.support.ticket import CloseReason
from bot.support.ticket_statistics import TicketStatistics
from bot.support.user_chat.screens import question, reply
from tests.support.builders import a_closed_ticket, an_entry, an_unanswered_ticket

MANY = [1001 + number for number in range(20)]


def of_staff(
    t: Translator, order: Order, now: datetime, zone: tzinfo, *, method: PayoutMethod, typed: str
) -> Iterator[tuple[str, Screen]]:
    """Yield each screen with a name. `method` and `typed` come from outside."""
    reader, ticket = Reader(t, zone, now), an_unanswered_ticket(now)
    claimed = ticket.claim(3001, now)
    case = Case(user_id=1001, user=None, order=order, tickets=(ticket,))
    yield "which user", lookup_user.ask_which_user(t, MANY)
    yield "order for staff", lookup_orders.show_order(reader, case)
    yield "which destination", lookup_orders.ask_destination(t, (method,) * 8, lambda code: f"find:{code}"[:64])
    for known in (ticket, claimed, a_closed_ticket(now, closed_by=3001)):
        yield "ticket for staff", ticket_page.show_ticket(reader, known, case, link="https://t.me/c/1/2")
        yield "ticket for its user", question.describe_ticket(t, known, timedelta(minutes=5))
        yield "reminder of staff", staff_lines.remind_staff(t, known, now + timedelta(hours=1))
        yield "reminder of an operator", staff_lines.remind_operator(t, known, now + timedelta(hours=1), None)
        yield "note asked", talk.ask_for_note(t, known, 3001)
        yield "note confirmed", talk.confirm_note(t, known)
        yield "reason asked", talk.ask_close_reason(t, known)
    for what in Remark:
        remark = EntryRemark("T-2345A", 1, what, by=3001, before=3002, why="support.saved_reply.name")
        yield f"remark, {what}", staff_lines.show_remark(t, remark, an_entry(text=escape(typed[:1000]) or "-"))
    for offset in (0, 10):
        orders = Page((order,) * 5, offset, has_more=not offset)
        yield "orders for staff", lookup_orders.list_orders(reader, Html("title"), orders, str)
        yield "orders of a user for staff", lookup_orders.list_orders_of(reader, 1001, orders, str)
        tickets = Page(((ticket, order), (claimed, None)), offset, has_more=not offset)
        listed = TicketPage(TicketFilter.OPEN, tickets, dict.fromkeys(TicketFilter, 10**6))
        yield "tickets for staff", lookup_tickets.list_tickets(reader, listed, TicketStatistics())
        yield "tickets of a user for staff", lookup_tickets.list_tickets_of(reader, 1001, tickets, str)
    for reason in CloseReason:
        yield f"closed, {reason}", talk.confirm_closed(t, a_closed_ticket(now, reason), reason)
    yield "notes explained", talk.explain_notes(t)
    why = Rejection("support.saved_reply.name")
    yield "not passed on", talk.explain_not_passed_on(t, ticket, why)
    yield "not corrected", talk.explain_not_corrected(t, why)
    yield from _of_saved_replies(t, typed, now)
    for about in (order, None):
        written = an_entry(text=escape(typed[:1000]) or "-")
        yield "reply", reply.show_reply(t, written, about)
        yield "reply withdrawn", reply.show_withdrawn(t, written, about)


def _of_saved_replies(t: Translator, typed: str, now: datetime) -> Iterator[tuple[str, Screen]]:
    ticket, name = an_unanswered_ticket(now), "a" * 20
    text = escape(typed[:300]) or "-"
    saved = SavedReply(name=name, texts={"en": text, "id": text}, updated_at=now, updated_by=3001)
    many = [replace(saved, name=f"{number:020}") for number in range(MAX_COUNT)]
    for some in ((), (saved,), many):
        yield "saved replies", replies.list_replies(t, some)
        yield "names of saved replies", replies.list_names(t, some, "b" * 32)
        yield "which saved reply", replies.ask_which(t, ticket, some, "en")
    yield "saved reply", replies.show_reply(t, saved)
    yield "saved reply to delete", replies.ask_to_delete(t, name)
    yield "name of a saved reply", replies.ask_name(t)
    yield "text of a saved reply", replies.ask_text(t, name, "en")
    yield "preview of a saved reply", replies.show_preview(t, ticket, name, text, "en")
    yield "queued saved reply", replies.show_queued(t, ticket, name, text, 3001)

"""A user's screens of tickets in every state, with input from outside. `every_screen.py` checks them."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from itertools import product

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import Order
from bot.staff.staff_chat import StaffChat, SupportContacts
from bot.support.ticket import Cause, CloseReason, Rating
from bot.support.user_chat.screens import help as help_screens
from bot.support.user_chat.screens import page as ticket_page
from bot.support.user_chat.screens import question as ticket_question
from tests.support.builders import a_closed_ticket, an_unanswered_ticket

CONTACTS = ("", "@kirim_help", "help@kirim.example", "https://kirim.example/help?a=1&b=<2>")


def some_contacts(staff: frozenset[int], contact: str) -> SupportContacts:
    """Return the contacts that users can ask."""
    return SupportContacts(StaffChat(0, staff), contact)


def of_tickets(t: Translator, order: Order, now: datetime, zone: tzinfo) -> Iterator[tuple[str, Screen]]:
    """Yield each screen with a name, in every state."""
    for about, cause in product((order, None), Cause):
        ticket = an_unanswered_ticket(now, cause=cause)
        yield f"opened, {cause}", ticket_question.confirm_opened(t, ticket, about)
        yield f"opened by itself, {cause}", ticket_question.report_opened(t, ticket, about)
        soon = timedelta(minutes=5)
        yield f"opened, {cause}, with the reply time", ticket_question.confirm_opened(t, ticket, about, soon)
        yield (
            f"opened by itself, {cause}, with the reply time",
            ticket_question.report_opened(t, ticket, about, soon),
        )
        for known in (ticket, replace(ticket, waiting_since=None)):
            yield f"ticket, {cause}", ticket_page.show_ticket(Reader(t, zone, now), known, about, can_reopen=False)
        for reason, rating, can_reopen in product(CloseReason, (None, *Rating), (True, False)):
            closed = a_closed_ticket(now, reason, cause=cause, rating=rating)
            yield (
                f"closed, {reason}",
                ticket_page.show_ticket(Reader(t, zone, now), closed, about, can_reopen=can_reopen),
            )
    yield "added", ticket_question.confirm_added(t, an_unanswered_ticket(now))
    yield "unreadable", ticket_question.explain_unreadable(t)
    yield (
        "offer",
        ticket_question.offer_to_forward(
            t, (an_unanswered_ticket(now), an_unanswered_ticket(now, reference="T-22222"))
        ),
    )
    yield "left", ticket_question.confirm_cancelled(t)
    yield "refused", ticket_question.explain_refusal(t, Html(t("support.ticket.closed_too_long_ago")))
    for contact in CONTACTS:
        for about, before in product((order, None), (None, an_unanswered_ticket(now), a_closed_ticket(now))):
            yield f"question, {contact}", ticket_question.ask(t, about, before, contact)
        if contact:
            yield f"contact only, {contact}", ticket_question.show_contact(t, order, contact)
        for staff in (frozenset[int](), frozenset({2001})):
            mine = (an_unanswered_ticket(now), an_unanswered_ticket(now, reference="T-22222", order_reference=""))
            yield (
                "help",
                help_screens.show_first_page(
                    t, some_contacts(staff, contact), mine if staff else (), {order.reference: order}
                ),
            )

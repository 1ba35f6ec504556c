"""The lists of tickets, with their counts."""

from dataclasses import replace

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.order import Order
from bot.support.buttons import LookupButton, LookupPage, StaffTicketAction, StaffTicketButton
from bot.support.cases.screens import case as case_screens
from bot.support.cases.screens.case import user_row
from bot.support.lookup.model import Page, TicketPage
from bot.support.lookup.query import format_page
from bot.support.lookup.screens.orders import COLUMNS, GetPageData, page_buttons
from bot.support.model import TicketFilter
from bot.support.ticket import Ticket
from bot.support.ticket_statistics import TicketStatistics
from bot.support.tickets.screens import format_ticket_times

TicketAndOrder = tuple[Ticket, Order | None]
"""A ticket, and the order that it is about."""

FILTERS_IN_ROWS = ((TicketFilter.OPEN, TicketFilter.MINE), (TicketFilter.UNCLAIMED, TicketFilter.CLOSED))


def list_tickets(reader: Reader, listed: TicketPage, statistics: TicketStatistics) -> Screen:
    """Return a page of a list of tickets. It ends with the reply times of the last week."""

    def turn(offset: int) -> str:
        return LookupButton(LookupPage.TICKETS, format_page(listed.which, offset)).pack()

    t = reader.t
    title = t(f"support.lookup.tickets.{listed.which}", count=listed.counts[listed.which])
    shown = _list(reader, title, listed.page, turn, more=_filters(t, listed))
    times = format_ticket_times(t, statistics)
    return replace(shown, text=f"{shown.text}\n\n<b>{t('support.ticket_times.week')}</b>\n{times}") if times else shown


def list_tickets_of(reader: Reader, user_id: int, page: Page[TicketAndOrder], turn: GetPageData) -> Screen:
    """Return a page of a user's tickets, the open ones first."""
    t = reader.t
    title = t("support.lookup.tickets_of", user=reader.format_user(user_id))
    return _list(reader, title, page, turn, more=(user_row(t, user_id),))


def _list(reader: Reader, title: Html, page: Page[TicketAndOrder], turn: GetPageData, *, more: Keyboard) -> Screen:
    t = reader.t
    entries = [_entry(reader, *each) for each in page.items] or [t("support.lookup.no_tickets")]
    buttons = [
        Button(each.reference, data=StaffTicketButton(each.reference, StaffTicketAction.SHOW).pack())
        for each, _ in page.items
    ]
    rows = tuple(tuple(buttons[start : start + COLUMNS]) for start in range(0, len(buttons), COLUMNS))
    return Screen("\n\n".join([title, *entries]), (*rows, *page_buttons(t, page, turn), *more))


def _entry(reader: Reader, ticket: Ticket, order: Order | None) -> str:
    what = (
        reader.t("support.lookup.ticket_without") if order is None else case_screens.format_order_state(reader, order)
    )
    return f"{_status(reader, ticket)}\n{what}"


def _status(reader: Reader, ticket: Ticket) -> str:
    """Return the ticket's reference, status, cause and times."""
    t = reader.t
    lines = [
        t(
            "support.lookup.ticket",
            line=case_screens.format_ticket_line(reader, ticket),
            cause=t(f"support.lookup.cause.{ticket.cause}"),
            at=reader.format_time(ticket.created_at, round_up=False),
        )
    ]
    if ticket.waiting_since is not None:
        lines.append(t("support.lookup.waits", duration=t.duration(reader.now - ticket.waiting_since)))
    if ticket.closed_at is not None and ticket.close_reason is not None:
        at = reader.format_time(ticket.closed_at, round_up=False)
        lines.append(t("support.lookup.closed", reason=t(f"support.staff_ticket.reason.{ticket.end}"), at=at))
    return "\n".join(lines)


def _filters(t: Translator, listed: TicketPage) -> Keyboard:
    """Return the buttons to the lists. The button of the current list is marked, and refreshes it."""
    return tuple(
        tuple(
            Button(
                ("• " if which is listed.which else "")
                + t.plain(f"support.lookup.list.{which}", count=listed.counts[which]),
                data=LookupButton(LookupPage.TICKETS, format_page(which)).pack(),
            )
            for which in row
        )
        for row in FILTERS_IN_ROWS
    )

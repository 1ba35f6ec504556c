"""The page of one ticket: its card, with buttons to its order and its user."""

from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Screen
from bot.support.buttons import LookupButton, LookupPage, StaffTicketAction, StaffTicketButton
from bot.support.cases.reader import Case
from bot.support.cases.screens.case import user_row
from bot.support.notifications.screens import card as card_screens
from bot.support.ticket import Ticket

HERE = "here"
"""The argument of a button that shows the ticket's page in place of the pressed message."""


def show_ticket(reader: Reader, ticket: Ticket, case: Case, *, link: str | None) -> Screen:
    """Return a ticket's page, with buttons to its order and its user. `link` opens the ticket in the staff's group."""
    t = reader.t
    card = card_screens.show_card(reader, ticket, case)
    ways = (
        *(
            [Button(case.order.reference, data=LookupButton(LookupPage.ORDER, case.order.reference).pack())]
            if case.order
            else []
        ),
        *user_row(t, case.user_id),
    )
    there = (Button(t.plain("support.lookup.go_there"), url=link),) if link else ()
    refresh = Button(
        t.plain("orders.button.refresh"), data=StaffTicketButton(ticket.reference, StaffTicketAction.SHOW, HERE).pack()
    )
    rows = [row for row in (*card.keyboard, there, (*ways, refresh)) if row]
    return Screen(card.text, tuple(rows))

"""A reply of support as its user gets it, with the ticket and its order."""

from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.order import Order
from bot.orders.screens.formatting import format_order_line
from bot.support.entries import with_quote
from bot.support.model import TicketEntry
from bot.support.user_chat.buttons import UserTicketAction, UserTicketButton


def show_reply(t: Translator, entry: TicketEntry, order: Order | None) -> Screen:
    """Return the message. It quotes the reply, to show that the bot didn't write it."""
    parts = [_heading(t, entry, order)]
    if entry.edited_at is not None:
        parts.append(t("support.ticket.corrected"))
    return Screen(with_quote("\n".join(parts), entry.text), _answer_row(t, entry))


def show_withdrawn(t: Translator, entry: TicketEntry, order: Order | None) -> Screen:
    """Return the message in place of a withdrawn reply."""
    parts = (_heading(t, entry, order), t("support.ticket.taken_back"))
    return Screen("\n".join(parts), _answer_row(t, entry), silent=True)


def _heading(t: Translator, entry: TicketEntry, order: Order | None) -> str:
    name = t("support.ticket.from_support", ticket=entry.ticket)
    return name if order is None else f"{name}\n{format_order_line(t, order)}"


def _answer_row(t: Translator, entry: TicketEntry) -> Keyboard:
    return (
        (
            Button(
                t.plain("support.ticket.button.answer"),
                data=UserTicketButton(entry.ticket, UserTicketAction.WRITE).pack(),
            ),
        ),
    )

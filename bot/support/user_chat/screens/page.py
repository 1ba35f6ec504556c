"""The page of a user's own ticket, open or closed."""

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.buttons import OrderAction
from bot.orders.order import Order
from bot.orders.screens.formatting import order_button
from bot.support.ticket import Rating, Ticket
from bot.support.user_chat.buttons import UserTicketAction, UserTicketButton
from bot.support.user_chat.screens.question import format_heading, more_row


def show_ticket(reader: Reader, ticket: Ticket, order: Order | None, *, can_reopen: bool) -> Screen:
    """Return the page of a ticket. `can_reopen` is whether its user can still reopen it."""
    t = reader.t
    opened = t(f"support.ticket.opened_{ticket.cause}", at=reader.format_time(ticket.created_at, round_up=False))
    head = format_heading(t, ticket, order)
    if ticket.is_open:
        text = f"{head}\n\n{opened}\n{_state(reader, ticket)}"
        return Screen(text, (more_row(t, ticket), *_order_rows(t, order)))
    ended = t("support.ticket.closed_at", at=reader.format_time(ticket.closed_at or reader.now, round_up=False))
    why = t(f"support.ticket.closed_{ticket.end}")
    not_over = [t("support.ticket.not_over")] if can_reopen else []
    # Nobody has helped whose ticket closed itself.
    ratings = ((_rating(t, ticket),), (_rating_row(t, ticket),)) if ticket.closed_by else ((), ())
    text = "\n\n".join((head, f"{opened}\n{ended}", why, *not_over, *ratings[0]))
    rows = (*ratings[1], *_reopen_rows(t, ticket, can_reopen=can_reopen), *_order_rows(t, order))
    return Screen(text, rows)


def _state(reader: Reader, ticket: Ticket) -> Html:
    if ticket.waiting_since is None:
        return reader.t("support.ticket.was_answered")
    return reader.t("support.ticket.waits", at=reader.format_time(ticket.waiting_since, round_up=False))


def _rating(t: Translator, ticket: Ticket) -> Html:
    return t("support.ticket.how_was_it") if ticket.rating is None else t(f"support.ticket.rated_{ticket.rating}")


def _rating_row(t: Translator, ticket: Ticket) -> tuple[Button, ...]:
    return tuple(
        Button(
            t.plain(f"support.button.rate_{rating}"),
            data=UserTicketButton(ticket.reference, UserTicketAction.RATE, rating).pack(),
        )
        for rating in Rating
    )


def _reopen_rows(t: Translator, ticket: Ticket, *, can_reopen: bool) -> Keyboard:
    if not can_reopen:
        return ()
    return (
        (
            Button(
                t.plain("support.button.reopen"),
                data=UserTicketButton(ticket.reference, UserTicketAction.REOPEN).pack(),
            ),
        ),
    )


def _order_rows(t: Translator, order: Order | None) -> Keyboard:
    if order is None:
        return ()
    return ((order_button(t, order, "support.button.order_page", OrderAction.SHOW_PAGE),),)

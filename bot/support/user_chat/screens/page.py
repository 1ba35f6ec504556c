"""A person's own ticket as it stands, the same when it is closed, and the way to all of theirs under `/help`."""

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.formatting import format_time
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.order import Order
from bot.recipients.formatting import format_method
from bot.staff.help import Help
from bot.support.ticket import Rating, Ticket
from bot.support.user_chat.buttons import NewTicketButton, UserTicketAction, UserTicketButton
from bot.support.user_chat.screens import help as help_topics
from bot.support.user_chat.screens.question import elsewhere, heading, more_row
from bot.users.provider import UNNAMED, Provider
from bot.users.screens import phrase, provider
from bot.users.screens.buttons import send_row


def screen(
    t: Translator, ticket: Ticket, order: Order | None, now: datetime, zone: tzinfo, *, may_reopen: bool
) -> Screen:
    """The page. `may_reopen` is whether a closed one can still be taken up again."""
    opened = t(f"ticket.opened_{ticket.cause}", at=format_time(t, ticket.created_at, now, zone, up=False))
    head = heading(t, ticket, order)
    if ticket.is_open:
        text = f"{head}\n\n{opened}\n{_state(t, ticket, now, zone)}"
        return Screen(text, (more_row(t, ticket), *_order_rows(t, order)))
    ended = t("ticket.closed_at", at=format_time(t, ticket.closed_at or now, now, zone, up=False))
    why = t(f"ticket.closed_{ticket.close_reason or 'solved'}")
    not_over = [t("ticket.not_over")] if may_reopen else []
    text = "\n\n".join((head, f"{opened}\n{ended}", why, *not_over, _rating(t, ticket)))
    rows = (_rating_row(t, ticket), *_reopen_rows(t, ticket, may_reopen=may_reopen), *_order_rows(t, order))
    return Screen(text, rows)


def _state(t: Translator, ticket: Ticket, now: datetime, zone: tzinfo) -> Html:
    if ticket.waits_since is None:
        return t("ticket.was_answered")
    return t("ticket.waits", at=format_time(t, ticket.waits_since, now, zone, up=False))


def _rating(t: Translator, ticket: Ticket) -> Html:
    return t("ticket.how_was_it") if ticket.rating is None else t(f"ticket.rated_{ticket.rating}")


def _rating_row(t: Translator, ticket: Ticket) -> tuple[Button, ...]:
    return tuple(
        Button(
            t.plain(f"button.rate_{rating}"),
            data=UserTicketButton(ticket.reference, UserTicketAction.RATE, rating).pack(),
        )
        for rating in Rating
    )


def _reopen_rows(t: Translator, ticket: Ticket, *, may_reopen: bool) -> Keyboard:
    if not may_reopen:
        return ()
    return (
        (Button(t.plain("button.reopen"), data=UserTicketButton(ticket.reference, UserTicketAction.REOPEN).pack()),),
    )


def _order_rows(t: Translator, order: Order | None) -> Keyboard:
    if order is None:
        return ()
    return ((Button(t.plain("button.order_page"), data=data.for_order(order.reference, "page")),),)


def help_screen(
    t: Translator,
    contacts: Help,
    tickets: Sequence[Ticket] = (),
    orders: Mapping[str, Order] | None = None,
    run_by: Provider = UNNAMED,
) -> Screen:
    """How it works, what to beware of, and how to reach a person; `tickets` are the reader's open ones."""
    said: list[str] = [t("help.text")]
    if contacts.has_staff:
        said.append(t("help.write"))
    if contacts.contact:
        said.append(elsewhere(t, contacts.contact, too=contacts.has_staff))
    said += provider.line(t, run_by)
    write = ((Button(t.plain("button.write_to_us"), data=NewTicketButton().pack()),),) if contacts.has_staff else ()
    mine = tuple((_ticket_button(t, ticket, (orders or {}).get(ticket.order_reference)),) for ticket in tickets)
    others = (Button(t.plain("settings.phrase"), data=phrase.SHOW), Button(t.plain("button.settings"), data="s:show"))
    return Screen("\n\n".join(said), (send_row(t), *write, *mine, *help_topics.rows(t), others))


def _ticket_button(t: Translator, ticket: Ticket, order: Order | None) -> Button:
    about = "" if order is None else f" · {format_method(order.method)} {t.rupiah(order.idr or order.expected_idr)}"
    return Button(
        f"🎫 {ticket.reference}{about}", data=UserTicketButton(ticket.reference, UserTicketAction.SHOW).pack()
    )

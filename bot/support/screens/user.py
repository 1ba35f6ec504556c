"""Writing to support, a user's own ticket, replies as the user gets them, and `/help` with its pages."""

from collections.abc import Sequence
from datetime import timedelta
from html import escape

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.buttons import OrderAction
from bot.orders.order import Order
from bot.orders.screens.formatting import format_order_line, order_button
from bot.support.buttons import LeaveTicketQuestionButton, NewTicketButton, UserTicketAction, UserTicketButton, button
from bot.support.entries import with_quote
from bot.support.model import Rating, Ticket, TicketEntry
from bot.users.buttons import send_row

PROFILE = "https://t.me/"


def ask(t: Translator, order: Order | None, ticket: Ticket | None, contact: str = "") -> Screen:
    """Ask what is wrong, or for more if there is a `ticket` already."""
    about = [t("support.help.about", line=format_order_line(t, order))] if order is not None else []
    parts = [*about, _question(t, ticket), t("support.ticket.how_to_write")]
    if contact:
        parts.append(format_other_contact(t, contact, order.reference if order else "", too=True))
    return Screen("\n\n".join(parts), ((button(t, "checkout.button.cancel", LeaveTicketQuestionButton()),),))


def _question(t: Translator, ticket: Ticket | None) -> Html:
    if ticket is None:
        return t("support.ticket.what_is_wrong")
    return t(
        "support.ticket.write_more" if ticket.is_open else "support.ticket.write_to_reopen", ticket=ticket.reference
    )


def explain_unreadable(t: Translator) -> Screen:
    """Explain that we can't pass on this kind of message. The question stays open."""
    return Screen(
        t("support.ticket.unreadable"),
        ((button(t, "checkout.button.cancel", LeaveTicketQuestionButton()),),),
    )


def confirm_cancelled(t: Translator) -> Screen:
    """Confirm that the question is cancelled."""
    return Screen(t("support.ticket.left"), ((button(t, "support.button.write_to_us", NewTicketButton()),),))


def confirm_opened(t: Translator, ticket: Ticket, order: Order | None, reply_time: timedelta | None = None) -> Screen:
    """Confirm that a ticket is open. `reply_time` is the median time to a first reply, if that is known."""
    parts = (_format_heading(t, ticket, order), t("support.ticket.is_open"), *_reply_time_lines(t, reply_time))
    return Screen("\n\n".join(parts), (_more_row(t, ticket),))


def confirm_added(t: Translator, ticket: Ticket) -> Screen:
    """Confirm that a message was added to a ticket."""
    return Screen(t("support.ticket.added", ticket=ticket.reference), (_more_row(t, ticket),))


def describe_ticket(
    t: Translator, ticket: Ticket, reply_time: timedelta | None = None, *, has_failed: bool = False
) -> Screen:
    """Return what the message about a payment problem says about the ticket. `reply_time` is as in `confirm_opened`."""
    what = t("support.ticket.by_itself_failed" if has_failed else "support.ticket.by_itself")
    parts = (_format_heading(t, ticket, None), what, *_reply_time_lines(t, reply_time))
    return Screen("\n\n".join(parts), (_more_row(t, ticket, "support.button.write_to_support"),))


def _reply_time_lines(t: Translator, reply_time: timedelta | None) -> tuple[Html, ...]:
    """Return the line with the reply time, if it is known. The time is rounded up."""
    return () if reply_time is None else (t("support.ticket.reply_time", duration=t.within(reply_time)),)


def offer_to_forward(t: Translator, tickets: Sequence[Ticket]) -> Screen:
    """Ask whether to add a message to one of these tickets."""
    rows = tuple(
        (
            button(
                t,
                "support.button.pass_on",
                UserTicketButton(each.reference, UserTicketAction.FORWARD),
                ticket=each.reference,
            ),
        )
        for each in tickets
    )
    return Screen(t("support.ticket.for_support"), (*rows, send_row(t, style=None)))


def explain_refusal(t: Translator, why: Html) -> Screen:
    """Explain why a message can't be added to the ticket, with a button to a new ticket."""
    return Screen(why, ((button(t, "support.button.write_to_us", NewTicketButton(), "primary"),),))


def show_contact(t: Translator, order: Order, contact: str) -> Screen:
    """Show the contact for an order, if there is no support agent."""
    about = t("support.help.about", line=format_order_line(t, order))
    return Screen(f"{about}\n\n{format_other_contact(t, contact, order.reference)}")


def _format_heading(t: Translator, ticket: Ticket, order: Order | None) -> str:
    """Return the ticket's reference and its order."""
    name = t("support.ticket.heading", ticket=ticket.reference)
    return name if order is None else f"{name}\n{format_order_line(t, order)}"


def _more_row(t: Translator, ticket: Ticket, label: str = "support.button.write_more") -> tuple[Button, ...]:
    """Return the button to write more. A reply to one of the ticket's messages does the same."""
    return (button(t, label, UserTicketButton(ticket.reference, UserTicketAction.WRITE)),)


def format_other_contact(t: Translator, whom: str, reference: str = "", *, too: bool = False) -> Html:
    """Return the contact outside the bot, and the reference to quote. `too` is whether support reads here as well."""
    key = f"support.help.contact{'_too' if too else ''}{'' if reference else '_alone'}"
    return t(key, contact=format_contact(whom), reference=reference)


def format_contact(whom: str) -> Html:
    """Return the contact as a link. An email address stays a text, since Telegram links it automatically."""
    if whom.startswith("@"):
        return Html(f'<a href="{escape(PROFILE + whom[1:])}">{escape(whom)}</a>')
    if whom.startswith("https://"):
        return Html(f'<a href="{escape(whom)}">{escape(whom)}</a>')
    return Html(escape(whom))


def show_ticket(reader: Reader, ticket: Ticket, order: Order | None, *, can_reopen: bool) -> Screen:
    """Return the page of a ticket. `can_reopen` is whether its user can still reopen it."""
    t = reader.t
    opened = t(f"support.ticket.opened_{ticket.cause}", at=reader.format_time(ticket.created_at, round_up=False))
    head = _format_heading(t, ticket, order)
    if ticket.is_open:
        text = f"{head}\n\n{opened}\n{_state(reader, ticket)}"
        return Screen(text, (_more_row(t, ticket), *_order_rows(t, order)))
    ended = t("support.ticket.closed_at", at=reader.format_time(ticket.closed_at or reader.now, round_up=False))
    why = t(f"support.ticket.closed_{ticket.close_key}")
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
        button(t, f"support.button.rate_{rating}", UserTicketButton(ticket.reference, UserTicketAction.RATE, rating))
        for rating in Rating
    )


def _reopen_rows(t: Translator, ticket: Ticket, *, can_reopen: bool) -> Keyboard:
    if not can_reopen:
        return ()
    return ((button(t, "support.button.reopen", UserTicketButton(ticket.reference, UserTicketAction.REOPEN)),),)


def _order_rows(t: Translator, order: Order | None) -> Keyboard:
    if order is None:
        return ()
    return ((order_button(t, order, "support.button.order_page", OrderAction.SHOW_PAGE),),)


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
    return ((button(t, "support.ticket.button.answer", UserTicketButton(entry.ticket, UserTicketAction.WRITE)),),)

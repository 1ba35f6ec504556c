"""The screens for writing to support: the question, the answers to it, and the other contact."""

from collections.abc import Sequence
from datetime import timedelta
from html import escape

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.screen import Button, Screen
from bot.orders.order import Order
from bot.orders.screens.formatting import format_order_line
from bot.support.ticket import Ticket
from bot.support.user_chat.buttons import LeaveTicketQuestionButton, NewTicketButton, UserTicketAction, UserTicketButton
from bot.users.buttons import send_row

PROFILE = "https://t.me/"


def ask(t: Translator, order: Order | None, ticket: Ticket | None, contact: str = "") -> Screen:
    """Ask what is wrong, or for more if there is a `ticket` already."""
    about = [t("support.help.about", line=format_order_line(t, order))] if order is not None else []
    parts = [*about, _question(t, ticket), t("support.ticket.how_to_write")]
    if contact:
        parts.append(format_other_contact(t, contact, order.reference if order else "", too=True))
    return Screen(
        "\n\n".join(parts), ((Button(t.plain("checkout.button.cancel"), data=LeaveTicketQuestionButton().pack()),),)
    )


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
        ((Button(t.plain("checkout.button.cancel"), data=LeaveTicketQuestionButton().pack()),),),
    )


def confirm_cancelled(t: Translator) -> Screen:
    """Confirm that the question is cancelled."""
    return Screen(
        t("support.ticket.left"), ((Button(t.plain("support.button.write_to_us"), data=NewTicketButton().pack()),),)
    )


def confirm_opened(t: Translator, ticket: Ticket, order: Order | None, reply_time: timedelta | None = None) -> Screen:
    """Confirm that a ticket is open. `reply_time` is the median time to a first reply, if that is known."""
    parts = (format_heading(t, ticket, order), t("support.ticket.is_open"), *_reply_time_lines(t, reply_time))
    return Screen("\n\n".join(parts), (more_row(t, ticket),))


def confirm_added(t: Translator, ticket: Ticket) -> Screen:
    """Confirm that a message was added to a ticket."""
    return Screen(t("support.ticket.added", ticket=ticket.reference), (more_row(t, ticket),))


def describe_ticket(t: Translator, ticket: Ticket, reply_time: timedelta | None = None) -> Screen:
    """Return what the message about a payment problem says about the ticket. `reply_time` is as in `confirm_opened`."""
    parts = (format_heading(t, ticket, None), t("support.ticket.by_itself"), *_reply_time_lines(t, reply_time))
    return Screen("\n\n".join(parts), (more_row(t, ticket, "support.button.write_to_support"),))


def _reply_time_lines(t: Translator, reply_time: timedelta | None) -> tuple[Html, ...]:
    """Return the line with the reply time, if it is known. The time is rounded up."""
    return () if reply_time is None else (t("support.ticket.reply_time", duration=t.within(reply_time)),)


def offer_to_forward(t: Translator, tickets: Sequence[Ticket]) -> Screen:
    """Ask whether to add a message to one of these tickets."""
    rows = tuple(
        (
            Button(
                t.plain("support.button.pass_on", ticket=each.reference),
                data=UserTicketButton(each.reference, UserTicketAction.FORWARD).pack(),
            ),
        )
        for each in tickets
    )
    return Screen(t("support.ticket.for_support"), (*rows, send_row(t, style=None)))


def explain_refusal(t: Translator, why: Html) -> Screen:
    """Explain why a message can't be added to the ticket, with a button to a new ticket."""
    return Screen(
        why, ((Button(t.plain("support.button.write_to_us"), data=NewTicketButton().pack(), style="primary"),),)
    )


def show_contact(t: Translator, order: Order, contact: str) -> Screen:
    """Show the contact for an order, if there is no support agent."""
    about = t("support.help.about", line=format_order_line(t, order))
    return Screen(f"{about}\n\n{format_other_contact(t, contact, order.reference)}")


def format_heading(t: Translator, ticket: Ticket, order: Order | None) -> str:
    """Return the ticket's reference and its order."""
    name = t("support.ticket.heading", ticket=ticket.reference)
    return name if order is None else f"{name}\n{format_order_line(t, order)}"


def more_row(t: Translator, ticket: Ticket, label: str = "support.button.write_more") -> tuple[Button, ...]:
    """Return the button to write more. A reply to one of the ticket's messages does the same."""
    return (Button(t.plain(label), data=UserTicketButton(ticket.reference, UserTicketAction.WRITE).pack()),)


def format_other_contact(t: Translator, whom: str, reference: str = "", *, too: bool = False) -> Html:
    """Return the contact outside the bot, and the reference to quote. `too` is whether support reads here as well."""
    if not reference:
        return t(
            "support.help.contact_too_alone" if too else "support.help.contact_alone", contact=format_contact(whom)
        )
    return t(
        "support.help.contact_too" if too else "support.help.contact", contact=format_contact(whom), reference=reference
    )


def format_contact(whom: str) -> Html:
    """Return the contact as a link. An email address stays a text, since Telegram links it automatically."""
    if whom.startswith("@"):
        return Html(f'<a href="{escape(PROFILE + whom[1:])}">{escape(whom)}</a>')
    if whom.startswith("https://"):
        return Html(f'<a href="{escape(whom)}">{escape(whom)}</a>')
    return Html(escape(whom))

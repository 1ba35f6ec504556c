"""The reminders of a ticket that waits for a reply: for support and for operators."""

from datetime import datetime

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.support.staff.buttons import StaffTicketAction, StaffTicketButton
from bot.support.staff.screens.talk import mention
from bot.support.ticket import Ticket


def remind_staff(t: Translator, ticket: Ticket, now: datetime) -> Screen:
    """Remind support. The reminder mentions the agent who holds the ticket, so that Telegram notifies them."""
    keyboard: Keyboard = ()
    if ticket.claimed_by is None:
        keyboard = (
            (
                Button(
                    t.plain("support.waiting.claim"),
                    data=StaffTicketButton(ticket.reference, StaffTicketAction.CLAIM).pack(),
                ),
            ),
        )
    return Screen(_text(t, "support.waiting.head", ticket, now), keyboard)


def remind_operator(t: Translator, ticket: Ticket, now: datetime, link: str | None) -> Screen:
    """Remind an operator, with a link to the ticket. There are no buttons, since operators may not be agents."""
    keyboard = ((Button(t.plain("support.waiting.open"), url=link),),) if link else ()
    return Screen(_text(t, "support.waiting.long", ticket, now), keyboard)


def _text(t: Translator, key: str, ticket: Ticket, now: datetime) -> Html:
    waited = t.duration(now - (ticket.waiting_since or now))
    held = (
        t("support.waiting.unclaimed")
        if ticket.claimed_by is None
        else t("support.waiting.held", by=mention(ticket.claimed_by))
    )
    return Html(f"{t(key, ticket=ticket.reference, waited=waited)}\n{held}")

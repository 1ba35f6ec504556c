"""What support is told at once when they write in a ticket: why something isn't passed on, and what was kept."""

from bot.core.errors import Rejection
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.support.staff.buttons import StaffTicketAction, StaffTicketButton
from bot.support.ticket import CloseReason, Ticket

KIND, COMMAND, STRANGER, TOO_LONG, UNKNOWN = (
    "staff.refusal.kind",
    "staff.refusal.command",
    "staff.refusal.stranger",
    "staff.refusal.too_long",
    "staff.refusal.unknown",
)


def not_passed_on(t: Translator, ticket: Ticket, why: Rejection) -> Screen:
    """The person hasn't got it, for this reason, and here is the way."""
    return Screen(t("staff.not_passed_on", why=t.tell(why)), _way(t, ticket, why))


def not_corrected(t: Translator, why: Rejection) -> Screen:
    """The person has it as it was before the correction."""
    return Screen(t("staff.not_corrected", why=t.tell(why)))


def take_over(t: Translator, ticket: Ticket, holder: int) -> Screen:
    """The question for a word to whoever holds the ticket."""
    return Screen(t("staff.take_over", ticket=ticket.reference, who=mention(holder)))


def closing(t: Translator, ticket: Ticket) -> Screen:
    """Why it is to be closed: the person will be told."""
    rows = [
        (
            Button(
                t.plain(f"staff.close.{reason}"),
                data=StaffTicketButton(ticket.reference, StaffTicketAction.CLOSE_AS, reason).pack(),
            ),
        )
        for reason in CloseReason
    ]
    return Screen(t("staff.closing", ticket=ticket.reference), tuple(rows))


def closed(t: Translator, ticket: Ticket, reason: CloseReason) -> Screen:
    """It is closed."""
    return Screen(
        t("staff.closed", ticket=ticket.reference, reason=t(f"staff_ticket.reason.{reason}")), (reopen_row(t, ticket),)
    )


def noted(t: Translator, ticket: Ticket) -> Screen:
    """A note was kept."""
    return Screen(t("staff.noted", ticket=ticket.reference))


def how_to_note(t: Translator) -> Screen:
    """How a note is written."""
    return Screen(t("staff.how_to_note"))


def reopen_row(t: Translator, ticket: Ticket) -> tuple[Button, ...]:
    """The button that opens a closed ticket again."""
    return (
        Button(
            t.plain("staff_ticket.reopen"), data=StaffTicketButton(ticket.reference, StaffTicketAction.REOPEN).pack()
        ),
    )


def mention(staff_id: int) -> Html:
    """A colleague, called by their number: it rings for them, and names nobody."""
    return Html(f'<a href="tg://user?id={staff_id}">{staff_id}</a>')


def _way(t: Translator, ticket: Ticket, why: Rejection) -> Keyboard:
    if why.key == "ticket.closed":
        return (reopen_row(t, ticket),)
    if why.key == "ticket.held_by_another":
        over = StaffTicketButton(ticket.reference, StaffTicketAction.TAKE_OVER).pack()
        return ((Button(t.plain("staff_ticket.take"), data=over),),)
    return ()

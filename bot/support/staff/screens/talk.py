"""The answers to agents who write in a ticket or change it: what was saved, and why a reply wasn't passed on."""

from bot.core.errors import Rejection
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.support.buttons import StaffTicketAction, StaffTicketButton
from bot.support.notifications.screens.staff_lines import mention
from bot.support.ticket import CloseReason, Ticket, TicketClosed, TicketHeldByAnother

KIND, COMMAND, STRANGER, TOO_LONG, UNKNOWN = (
    "support.staff.refusal.kind",
    "support.staff.refusal.command",
    "support.staff.refusal.stranger",
    "support.staff.refusal.too_long",
    "support.staff.refusal.unknown",
)


def explain_not_passed_on(t: Translator, ticket: Ticket, why: Rejection) -> Screen:
    """Explain why the user didn't get the reply, with a button that helps."""
    return Screen(t("support.staff.not_passed_on", why=t.translate(why)), _helping_buttons(t, ticket, why))


def explain_not_corrected(t: Translator, why: Rejection) -> Screen:
    """Explain why the user still has the reply as it was before the edit."""
    return Screen(t("support.staff.not_corrected", why=t.translate(why)))


def ask_for_note(t: Translator, ticket: Ticket, claimed_by: int) -> Screen:
    """Ask for a note to the agent who holds the ticket."""
    return Screen(t("support.staff.take_over", ticket=ticket.reference, who=mention(claimed_by)))


def ask_close_reason(t: Translator, ticket: Ticket) -> Screen:
    """Ask for the reason to close the ticket. The user will see it."""
    rows = [
        (
            Button(
                t.plain(f"support.staff.close.{reason}"),
                data=StaffTicketButton(ticket.reference, StaffTicketAction.CLOSE_AS, reason).pack(),
            ),
        )
        for reason in CloseReason
    ]
    return Screen(t("support.staff.closing", ticket=ticket.reference), tuple(rows))


def confirm_closed(t: Translator, ticket: Ticket, reason: CloseReason) -> Screen:
    """Confirm that the ticket is closed."""
    return Screen(
        t("support.staff.closed", ticket=ticket.reference, reason=t(f"support.staff_ticket.reason.{reason}")),
        (reopen_row(t, ticket),),
    )


def confirm_note(t: Translator, ticket: Ticket) -> Screen:
    """Confirm that a note was saved."""
    return Screen(t("support.staff.noted", ticket=ticket.reference))


def explain_notes(t: Translator) -> Screen:
    """Explain how to write a note."""
    return Screen(t("support.staff.how_to_note"))


def reopen_row(t: Translator, ticket: Ticket) -> tuple[Button, ...]:
    """Return the button that reopens a ticket."""
    return (
        Button(
            t.plain("support.staff_ticket.reopen"),
            data=StaffTicketButton(ticket.reference, StaffTicketAction.REOPEN).pack(),
        ),
    )


def _helping_buttons(t: Translator, ticket: Ticket, why: Rejection) -> Keyboard:
    if isinstance(why, TicketClosed):
        return (reopen_row(t, ticket),)
    if isinstance(why, TicketHeldByAnother):
        over = StaffTicketButton(ticket.reference, StaffTicketAction.TAKE_OVER).pack()
        return ((Button(t.plain("support.staff_ticket.take"), data=over),),)
    return ()

"""The answers to agents who write in a ticket or change it: what was saved, and why a reply wasn't passed on."""

from bot.core.errors import Rejection
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Screen
from bot.support.buttons import StaffTicketAction, StaffTicketButton
from bot.support.notifications.screens.staff_lines import helping_rows, reopen_row
from bot.support.ticket import CloseReason, Ticket

ANONYMOUS, KIND, COMMAND, STRANGER, TOO_LONG, UNKNOWN = (
    "support.staff.refusal.anonymous",
    "support.staff.refusal.kind",
    "support.staff.refusal.command",
    "support.staff.refusal.stranger",
    "support.staff.refusal.too_long",
    "support.staff.refusal.unknown",
)


def explain_not_passed_on(t: Translator, ticket: Ticket, why: Rejection) -> Screen:
    """Explain why the user didn't get the reply, with a button that helps."""
    return Screen(t("support.staff.not_passed_on", why=t.translate(why)), helping_rows(t, ticket, why))


def explain_not_corrected(t: Translator, why: Rejection, *, is_sent: bool = True) -> Screen:
    """Explain why the user still has the reply as it was before the edit, or would get it so."""
    return Screen(t("support.staff.not_corrected" if is_sent else "support.staff.not_edited", why=t.translate(why)))


def ask_for_note(reader: Reader, ticket: Ticket, claimed_by: int) -> Screen:
    """Ask for a note to the agent who holds the ticket."""
    return Screen(reader.t("support.staff.take_over", ticket=ticket.reference, who=reader.mention(claimed_by)))


def ask_close_reason(t: Translator, ticket: Ticket, undecided: int = 0) -> Screen:
    """Ask for the reason to close the ticket. The user will see it. `undecided` messages weren't sent to them."""
    text = t("support.staff.closing", ticket=ticket.reference)
    if undecided:
        text = Html(f"{text}\n\n{t.plural('support.staff.closing_unsent', undecided)}")
    rows = [
        (
            Button(
                t.plain(f"support.staff.close.{reason}"),
                data=StaffTicketButton(ticket.reference, StaffTicketAction.CLOSE_AS, reason).pack(),
            ),
        )
        for reason in CloseReason
    ]
    return Screen(text, tuple(rows))


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

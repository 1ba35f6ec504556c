"""The lines under a ticket's card: what happened to an entry, and that the ticket waits for a reply."""

from collections.abc import Mapping
from typing import Final

from bot.core.errors import Rejection
from bot.infra.i18n import Html, Translator, as_html
from bot.infra.telegram.ui.formatting import clip
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen, Style
from bot.support.buttons import StaffTicketAction, StaffTicketButton
from bot.support.entries import with_quote
from bot.support.model import TicketEntry
from bot.support.notification_kinds import EntryRemark, Remark
from bot.support.ticket import Ticket, TicketClosed, TicketHeldByAnother

QUOTED: Final = frozenset({Remark.REPLIED, Remark.NOTED, Remark.TAKEN_OVER})
"""Remarks that quote what was written."""

REASONS: Final[Mapping[str, str]] = {
    "blocked": "support.staff.why.blocked",
    "deactivated": "support.staff.why.deactivated",
    "chat not found": "support.staff.why.unknown",
    "user not found": "support.staff.why.unknown",
    "the file can't be taken out": "support.staff.why.file_stays",
}
"""Parts of failures, and the keys of their texts."""


def show_remark(reader: Reader, remark: EntryRemark, entry: TicketEntry) -> Screen:
    """Return the line about an entry."""
    t = reader.t
    what, why = remark.what, format_failure(t, remark.why)
    key = (
        "support.staff.remark.claimed"
        if what is Remark.TAKEN_OVER and not remark.before
        else f"support.staff.remark.{what}"
    )
    text = t(key, why=why, by=reader.mention(remark.by), before=reader.mention(remark.before))
    line = t("support.staff.remark", ticket=entry.ticket, said=text)
    body = with_quote(line, entry.text) if what in QUOTED else line
    if what is not Remark.FAILED:
        return Screen(body)
    again = StaffTicketButton(entry.ticket, StaffTicketAction.SEND_AGAIN, str(entry.number)).pack()
    return Screen(body, ((Button(t.plain("support.staff.button.again"), data=again),),))


def ask_to_send(reader: Reader, ticket: Ticket, newest: TicketEntry, count: int, obstacle: Rejection | None) -> Screen:
    """Ask whether to send the agent's `count` messages, up to the `newest`. `obstacle` says why that can't be yet."""
    t, user = reader.t, reader.names.get(ticket.user_id)
    whom = clip(user) if user else t.plain("support.staff.the_customer")
    key = "support.staff.ask_to_send" if count == 1 else "support.staff.ask_to_send_all"
    text = t(key, user=whom, count=count, ticket=ticket.reference)

    def button(label: str, action: StaffTicketAction, style: Style | None = None) -> Button:
        data = StaffTicketButton(ticket.reference, action, str(newest.number)).pack()
        return Button(t.plain(label, user=whom), data=data, style=style)

    decide = (
        button("support.staff.button.send", StaffTicketAction.SEND_UNDECIDED, "primary"),
        button("support.staff.button.keep", StaffTicketAction.KEEP_UNDECIDED),
    )
    if obstacle is None:
        return Screen(text, (decide,))
    return Screen(Html(f"{text}\n{t.translate(obstacle)}"), (*helping_rows(t, ticket, obstacle), decide))


def helping_rows(t: Translator, ticket: Ticket, why: Rejection) -> Keyboard:
    """Return the button that helps an agent who can't reply."""
    if isinstance(why, TicketClosed):
        return (reopen_row(t, ticket),)
    if isinstance(why, TicketHeldByAnother):
        over = StaffTicketButton(ticket.reference, StaffTicketAction.TAKE_OVER).pack()
        return ((Button(t.plain("support.staff_ticket.take"), data=over),),)
    return ()


def reopen_row(t: Translator, ticket: Ticket) -> tuple[Button, ...]:
    """Return the button that reopens a ticket."""
    data = StaffTicketButton(ticket.reference, StaffTicketAction.REOPEN).pack()
    return (Button(t.plain("support.staff_ticket.reopen"), data=data),)


def format_failure(t: Translator, reason: str) -> Html:
    """Return why a reply wasn't delivered."""
    for piece, key in REASONS.items():
        if piece in reason.lower():
            return t(key)
    return t("support.staff.why.refused", reason=as_html(reason))


def remind_staff(reader: Reader, ticket: Ticket) -> Screen:
    """Remind support. The reminder mentions the agent who holds the ticket, so that Telegram notifies them."""
    keyboard: Keyboard = ()
    if ticket.claimed_by is None:
        keyboard = (
            (
                Button(
                    reader.t.plain("support.waiting.claim"),
                    data=StaffTicketButton(ticket.reference, StaffTicketAction.CLAIM).pack(),
                ),
            ),
        )
    return Screen(_reminder_text(reader, "support.waiting.head", ticket), keyboard)


def remind_operator(reader: Reader, ticket: Ticket, link: str | None) -> Screen:
    """Remind an operator, with a link to the ticket. There are no buttons, since operators may not be agents."""
    keyboard = ((Button(reader.t.plain("support.waiting.open"), url=link),),) if link else ()
    return Screen(_reminder_text(reader, "support.waiting.long", ticket), keyboard)


def _reminder_text(reader: Reader, key: str, ticket: Ticket) -> Html:
    t = reader.t
    waited = t.duration(reader.now - (ticket.waiting_since or reader.now))
    held = (
        t("support.waiting.unclaimed")
        if ticket.claimed_by is None
        else t("support.waiting.held", by=reader.mention(ticket.claimed_by))
    )
    return Html(f"{t(key, ticket=ticket.reference, waited=waited)}\n{held}")

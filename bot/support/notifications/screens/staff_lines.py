"""The lines under a ticket's card: what happened to an entry, and that the ticket waits for a reply."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from bot.infra.i18n import Html, Translator, as_html
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.support.buttons import StaffTicketAction, StaffTicketButton
from bot.support.entries import with_quote
from bot.support.model import TicketEntry
from bot.support.notification_kinds import EntryRemark, Remark
from bot.support.ticket import Ticket

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


def show_remark(t: Translator, remark: EntryRemark, entry: TicketEntry) -> Screen:
    """Return the line about an entry."""
    what, why = remark.what, format_failure(t, remark.why)
    key = (
        "support.staff.remark.claimed"
        if what is Remark.TAKEN_OVER and not remark.before
        else f"support.staff.remark.{what}"
    )
    text = t(key, why=why, by=mention(remark.by), before=mention(remark.before))
    line = t("support.staff.remark", ticket=entry.ticket, said=text)
    body = with_quote(line, entry.text) if what in QUOTED else line
    if what is not Remark.FAILED:
        return Screen(body)
    again = StaffTicketButton(entry.ticket, StaffTicketAction.SEND_AGAIN, str(entry.number)).pack()
    return Screen(body, ((Button(t.plain("support.staff.button.again"), data=again),),))


def format_failure(t: Translator, reason: str) -> Html:
    """Return why a reply wasn't delivered."""
    for piece, key in REASONS.items():
        if piece in reason.lower():
            return t(key)
    return t("support.staff.why.refused", reason=as_html(reason))


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
    return Screen(_reminder_text(t, "support.waiting.head", ticket, now), keyboard)


def remind_operator(t: Translator, ticket: Ticket, now: datetime, link: str | None) -> Screen:
    """Remind an operator, with a link to the ticket. There are no buttons, since operators may not be agents."""
    keyboard = ((Button(t.plain("support.waiting.open"), url=link),),) if link else ()
    return Screen(_reminder_text(t, "support.waiting.long", ticket, now), keyboard)


def mention(staff_id: int) -> Html:
    """Return a mention of an agent. It notifies them, and shows their id instead of a name."""
    return Html(f'<a href="tg://user?id={staff_id}">{staff_id}</a>')


def _reminder_text(t: Translator, key: str, ticket: Ticket, now: datetime) -> Html:
    waited = t.duration(now - (ticket.waiting_since or now))
    held = (
        t("support.waiting.unclaimed")
        if ticket.claimed_by is None
        else t("support.waiting.held", by=mention(ticket.claimed_by))
    )
    return Html(f"{t(key, ticket=ticket.reference, waited=waited)}\n{held}")

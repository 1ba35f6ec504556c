"""The remarks in a ticket: what another agent wrote in another chat, and whether a reply was delivered."""

from collections.abc import Mapping
from typing import Final

from bot.infra.i18n import Html, Translator, as_html
from bot.infra.telegram.ui.screen import Button, Screen
from bot.support.model import TicketEntry
from bot.support.notifications.kinds import EntryRemark, Remark
from bot.support.staff.buttons import StaffTicketAction, StaffTicketButton
from bot.support.staff.entries import with_quote
from bot.support.staff.screens.talk import mention

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
    return Screen(body, (_send_again_row(t, entry),) if what is Remark.FAILED else ())


def format_failure(t: Translator, reason: str) -> Html:
    """Return why a reply wasn't delivered."""
    for piece, key in REASONS.items():
        if piece in reason.lower():
            return t(key)
    return t("support.staff.why.refused", reason=as_html(reason))


def _send_again_row(t: Translator, entry: TicketEntry) -> tuple[Button, ...]:
    again = StaffTicketButton(entry.ticket, StaffTicketAction.SEND_AGAIN, str(entry.number)).pack()
    return (Button(t.plain("support.staff.button.again"), data=again),)

"""Rows of buttons that several screens share."""

from bot.chat import data
from bot.chat.screen import Button
from bot.domain.draft import Ask, OrderDraft
from bot.i18n import Translator


def leave_row(t: Translator, draft: OrderDraft) -> tuple[Button, ...]:
    """Back (where there is something to go back to) and Cancel, at the foot of every question."""
    cancel = Button(t.plain("button.cancel"), data=data.for_draft(draft, "cancel"))
    if draft.ask is Ask.DESTINATION and not draft.is_complete:
        return (cancel,)
    return (Button(t.plain("button.back"), data=data.for_draft(draft, "back")), cancel)


def new_row(t: Translator) -> tuple[Button, ...]:
    """The one big button."""
    return (Button(t.plain("button.send"), data=data.NEW, style="primary"),)

"""Rows of buttons that the questions of a draft share."""

from bot.checkout.draft import Ask, OrderDraft
from bot.checkout.flow import is_complete
from bot.infra.i18n import Translator
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.screen import Button


def leave_row(t: Translator, draft: OrderDraft) -> tuple[Button, ...]:
    """Back (where there is something to go back to) and Cancel, at the foot of every question."""
    cancel = Button(t.plain("button.cancel"), data=data.for_draft(draft, "cancel"))
    if draft.ask is Ask.DESTINATION and not is_complete(draft):
        return (cancel,)
    return (Button(t.plain("button.back"), data=data.for_draft(draft, "back")), cancel)


def has_answers(draft: OrderDraft) -> bool:
    """Whether there is anything in the draft that a person would have to say again."""
    return draft.method is not None or draft.amount is not None

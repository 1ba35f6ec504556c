"""Rows of buttons that the questions of a draft share."""

from bot.checkout.buttons import DraftAction, draft_data
from bot.checkout.draft import OrderDraft, Step
from bot.checkout.flow import is_complete
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Button


def leave_row(t: Translator, draft: OrderDraft) -> tuple[Button, ...]:
    """Return the last row of every question: Cancel, and Back unless there is nothing to go back to."""
    cancel = Button(t.plain("checkout.button.cancel"), data=draft_data(draft, DraftAction.CANCEL))
    if draft.step is Step.DESTINATION and not is_complete(draft):
        return (cancel,)
    return (Button(t.plain("users.button.back"), data=draft_data(draft, DraftAction.BACK)), cancel)

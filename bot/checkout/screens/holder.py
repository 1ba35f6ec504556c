"""The question for the holder's name, which is never required."""

from dataclasses import replace

from bot.checkout.buttons import DraftAction, draft_data
from bot.checkout.draft import OrderDraft
from bot.checkout.screens.formatting import format_recipient_line
from bot.checkout.screens.parts import leave_row
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Button, Screen


def screen(t: Translator, draft: OrderDraft) -> Screen:
    """Return the question, with the cleaned number."""
    skip = Button(t.plain("checkout.holder.skip"), data=draft_data(draft, DraftAction.SKIP))
    known = replace(draft, holder=None)
    return Screen(t("checkout.holder.ask", recipient=format_recipient_line(t, known)), ((skip,), leave_row(t, draft)))

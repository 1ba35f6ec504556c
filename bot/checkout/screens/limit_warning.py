"""The warning that a user has reached a limit of orders: why, until when, and that the draft is kept."""

from bot.checkout.buttons import DraftAction, draft_data
from bot.checkout.draft import OrderDraft
from bot.checkout.screens.formatting import format_draft_line
from bot.checkout.screens.parts import leave_row
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.screen import Button, Screen


def screen(t: Translator, draft: OrderDraft, reason: Html) -> Screen:
    """Return the reason, with a button that shows the review once it is possible."""
    again = Button(t.plain("orders.button.try_again"), data=draft_data(draft, DraftAction.SHOW), style="primary")
    about = format_draft_line(t, draft)
    text = f"{reason} {t('checkout.limits.kept')}"
    return Screen(f"{about}\n\n{text}" if about else text, ((again,), leave_row(t, draft)))

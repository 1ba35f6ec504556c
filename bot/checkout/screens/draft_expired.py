"""A draft that was put away: what it was about, and the way back to it."""

from bot.checkout.draft import OrderDraft
from bot.checkout.screens.formatting import format_draft_line
from bot.infra.i18n import Translator
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.screen import Button, Screen
from bot.users.screens.buttons import send_row


def screen(t: Translator, draft: OrderDraft) -> Screen:
    """That it was put away, with the button that takes it up again."""
    go_on = Button(t.plain("draft.continue"), data=data.for_draft(draft, "takeup"), style="primary")
    about = format_draft_line(t, draft)
    text = t("draft.lapsed")
    return Screen(f"{about}\n\n{text}" if about else text, ((go_on,), send_row(t, "draft.start_over")))


def damaged(t: Translator) -> Screen:
    """That our record of it is damaged, and how to begin again."""
    return Screen(t("draft.unreadable"), (send_row(t),))

"""A draft as a whole: unfinished, cancelled, expired or damaged, and while it can't become an order."""

from dataclasses import replace

from bot.checkout.buttons import DraftAction, StartOverButton, draft_data
from bot.checkout.draft import OrderDraft
from bot.checkout.screens.formatting import format_draft_line, text_key
from bot.checkout.screens.parts import leave_row
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.screen import Button, Screen
from bot.users.buttons import NewOrderButton, send_row


def unfinished(t: Translator, draft: OrderDraft) -> Screen:
    """Return the choice between an open draft and a new one."""
    start_over = Button(t.plain("checkout.draft.start_over"), data=StartOverButton().pack())
    text = t(text_key(draft, "checkout.draft.unfinished"), line=Html(format_draft_line(t, draft)))
    return Screen(text, ((_resume(t, draft),), (start_over,)))


def with_resume(t: Translator, screen: Screen, draft: OrderDraft) -> Screen:
    """Return `screen` with a button back to the draft in place of the one for a new order."""
    new = NewOrderButton().pack()
    rows = tuple(row for row in screen.keyboard if not any(button.data == new for button in row))
    return replace(screen, keyboard=((_resume(t, draft),), *rows))


def cancelled(t: Translator, draft: OrderDraft) -> Screen:
    """Return the message that the draft was cancelled."""
    return Screen(t(text_key(draft, "checkout.draft.cancelled")), (send_row(t),))


def nothing_to_cancel(t: Translator) -> Screen:
    """Return the message that no draft is open."""
    return Screen(t("checkout.draft.nothing_to_cancel"), (send_row(t),))


def service_down(t: Translator, draft: OrderDraft) -> Screen:
    """Return the message that the service can't be reached. The draft is kept, and stays in sight."""
    again = Button(t.plain("orders.button.try_again"), data=draft_data(draft, DraftAction.SHOW), style="primary")
    about = format_draft_line(t, draft)
    text = t(text_key(draft, "checkout.service.down"))
    return Screen(f"{about}\n\n{text}" if about else text, ((again,), leave_row(t, draft)))


def limit_reached(t: Translator, draft: OrderDraft, reason: Html) -> Screen:
    """Return why and until when the user can't order, with a button that shows the review once they can."""
    again = Button(t.plain("orders.button.try_again"), data=draft_data(draft, DraftAction.SHOW), style="primary")
    about = format_draft_line(t, draft)
    text = f"{reason} {t('checkout.limits.kept')}"
    return Screen(f"{about}\n\n{text}" if about else text, ((again,), leave_row(t, draft)))


def expired(t: Translator, draft: OrderDraft) -> Screen:
    """Return the message that the draft has expired, with the button that resumes it."""
    resume = Button(t.plain("checkout.draft.continue"), data=draft_data(draft, DraftAction.RESUME), style="primary")
    about = format_draft_line(t, draft)
    text = t(text_key(draft, "checkout.draft.expired"))
    rows = ((resume,), send_row(t, "checkout.draft.start_over")) if draft.terms is None else ((resume,),)
    return Screen(f"{about}\n\n{text}" if about else text, rows)


def damaged(t: Translator) -> Screen:
    """Return the message that our record of the draft is damaged, and how to begin again."""
    return Screen(t("checkout.draft.unreadable"), (send_row(t),))


def _resume(t: Translator, draft: OrderDraft) -> Button:
    return Button(t.plain("checkout.draft.continue"), data=draft_data(draft, DraftAction.SHOW), style="primary")

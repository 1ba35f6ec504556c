"""The button on the page of a saved recipient."""

from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Button
from bot.recipients.buttons import RecipientAction, RecipientButton
from bot.recipients.model import SavedRecipient


def make_recipient_button(t: Translator, recipient: SavedRecipient) -> Button:
    """Return the button that begins a request to this account."""
    return Button(
        t.plain("payment_requests.button.ask_here"), data=RecipientButton(recipient.id, RecipientAction.ASK).pack()
    )

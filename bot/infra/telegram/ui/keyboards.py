"""Turns our buttons into Telegram's."""

from telegram import CopyTextButton, InlineKeyboardButton, InlineKeyboardMarkup

from bot.infra.telegram.ui.screen import Button, Keyboard


def render_keyboard(keyboard: Keyboard) -> InlineKeyboardMarkup | None:
    """Return the inline keyboard as python-telegram-bot wants it; None where there are no buttons."""
    if not keyboard:
        return None
    return InlineKeyboardMarkup([[render_button(button) for button in row] for row in keyboard])


def render_button(button: Button) -> InlineKeyboardButton:
    """One button. `style` is left out where there is none, since older servers don't know the field."""
    return InlineKeyboardButton(
        button.label,
        callback_data=button.data,
        url=button.url,
        copy_text=None if button.copy is None else CopyTextButton(button.copy),
        style=button.style,
    )

"""Conversion of keyboards to python-telegram-bot's classes."""

from telegram import CopyTextButton, InlineKeyboardButton, InlineKeyboardMarkup

from bot.infra.telegram.ui.screen import Button, Keyboard


def render_keyboard(keyboard: Keyboard) -> InlineKeyboardMarkup | None:
    """Return python-telegram-bot's inline keyboard, or None if there are no buttons."""
    if not keyboard:
        return None
    return InlineKeyboardMarkup([[render_button(button) for button in row] for row in keyboard])


def render_button(button: Button) -> InlineKeyboardButton:
    """Return one button. An unset `style` isn't sent, because older servers don't know the field."""
    return InlineKeyboardButton(
        button.label,
        callback_data=button.data,
        url=button.url,
        copy_text=None if button.copy is None else CopyTextButton(button.copy),
        switch_inline_query=button.inline,
        style=button.style,
    )

"""Buttons that the screens of many features have."""

from bot.infra.i18n import Translator
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.screen import Button


def send_row(t: Translator, label: str = "button.send") -> tuple[Button, ...]:
    """Return the row with the button that starts a new order."""
    return (Button(t.plain(label), data=data.NEW, style="primary"),)

"""Buttons that the screens of many features have."""

from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Button
from bot.users.buttons import NewOrderButton


def send_row(t: Translator, label: str = "users.button.send") -> tuple[Button, ...]:
    """Return the row with the button that starts a new order."""
    return (Button(t.plain(label), data=NewOrderButton().pack(), style="primary"),)

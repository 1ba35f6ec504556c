"""Buttons that the screens of many features have."""

from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Button, Style
from bot.users.buttons import NewOrderButton


def send_row(t: Translator, label: str = "users.button.send", *, style: Style | None = "primary") -> tuple[Button, ...]:
    """Return the row with the button that starts a new order. On a screen about trouble it has no `style`."""
    return (Button(t.plain(label), data=NewOrderButton().pack(), style=style),)

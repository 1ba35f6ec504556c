"""News of the rate: what a person has asked for at a glance, the hour of their daily quote, and their quiet hours."""

from bot.chat.screen import Button, Keyboard
from bot.i18n import Translator

SHOW, OPEN, DAILY, ALERT, QUIET, STOP, END = (
    "sub:show",
    "sub:open",
    "sub:daily",
    "sub:alert",
    "sub:quiet",
    "sub:stop",
    "sub:end",
)


def rows(t: Translator) -> Keyboard:
    """What stands under the rate: a daily quote, an alert, what has been asked for, and the end of it all."""
    return (
        (Button(t.plain("subscription.daily"), data=DAILY), Button(t.plain("subscription.alert"), data=ALERT)),
        (Button(t.plain("subscription.mine"), data=OPEN), Button(t.plain("subscription.stop"), data=END)),
    )

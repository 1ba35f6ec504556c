"""What people did about their orders, in words for support: always an event, never what somebody wrote."""

from bot.infra.i18n import Html, Translator, as_html
from bot.infra.telegram.ui.formatting import quote_input
from bot.users.activity import UserEvent, pressed

PRESSES = (
    "look",
    "card",
    "accept",
    "drop",
    "again",
    "requote",
    "resend",
    "page",
    "refresh",
    "list",
    "receipt",
    "help",
)
KNOWN = frozenset({*map(str, UserEvent), *map(pressed, PRESSES)})
"""The acts that have a sentence here; another's is shown by its name."""


def name(t: Translator, what: str) -> Html:
    """What the person did."""
    return t(f"act.{what}") if what in KNOWN else as_html(quote_input(what))

"""What people did about their orders, in words for support: always an event, never what somebody wrote."""

from bot.actions.person_acts import Did, pressed
from bot.chat import words
from bot.i18n import Html, Translator, as_html

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
KNOWN = frozenset({*map(str, Did), *map(pressed, PRESSES)})
"""The acts that have a sentence here; another's is shown by its name."""


def name(t: Translator, what: str) -> Html:
    """What the person did."""
    return t(f"act.{what}") if what in KNOWN else as_html(words.quoted(what))

"""What users did with their orders, as support reads it: always an event, never what they wrote."""

from bot.infra.i18n import Html, Translator, as_html
from bot.infra.telegram.ui.formatting import quote_input
from bot.orders.buttons import OrderAction
from bot.users.model import UserEvent, pressed

KNOWN = frozenset({*map(str, UserEvent), *map(pressed, OrderAction)})
"""The events that have a text; another is shown by its name."""


def name(t: Translator, what: str) -> Html:
    """Return what the user did."""
    return t(f"act.{what}") if what in KNOWN else as_html(quote_input(what))

"""What people did about their orders, in words for support: always an event, never what somebody wrote."""

from bot.infra.i18n import Html, Translator, as_html
from bot.infra.telegram.ui.formatting import quote_input
from bot.orders.buttons import OrderAction
from bot.users.model import UserEvent, pressed

KNOWN = frozenset({*map(str, UserEvent), *map(pressed, OrderAction)})
"""The acts that have a sentence here; another's is shown by its name."""


def name(t: Translator, what: str) -> Html:
    """What the person did."""
    return t(f"act.{what}") if what in KNOWN else as_html(quote_input(what))

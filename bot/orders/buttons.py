"""The buttons of an order's messages, of the list of orders, and of the notification preferences."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from bot.infra.telegram.ui.callbacks import Callback, Pattern
from bot.orders.preferences import Way


class PreferencesAction(StrEnum):
    """What a button of all notification preferences does."""

    SHOW = "show"
    RESET = "reset"


@dataclass(frozen=True)
class PreferencesButton(Callback, prefix="np"):
    """A button of all notification preferences."""

    action: PreferencesAction


@dataclass(frozen=True)
class PreferenceButton(Callback, prefix="np:set"):
    """A button that chooses how notifications of one topic arrive."""

    topic: Annotated[str, Pattern("[a-z]{1,12}")]
    way: Way

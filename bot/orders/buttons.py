"""The buttons of orders' messages and lists, of the notification preferences, and of the list of destinations."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from bot.core.locales import LOCALES
from bot.infra.telegram.ui.callbacks import Callback, Pattern
from bot.orders.preferences import DeliveryMode


class OrderAction(StrEnum):
    """What a button of an order does."""

    REFRESH_STATUS = "check"
    RESEND_STATUS = "status"
    ACCEPT = "accept"
    DROP = "drop"
    DROP_UNPAID = "unpaid"
    TRY_AGAIN = "again"
    REQUOTE = "requote"
    RESEND = "resend"
    OPEN_LINK = "link"
    SHOW_PAGE = "page"
    REFRESH_PAGE = "refresh"
    SHOW_LIST = "list"
    RECEIPT = "receipt"
    REMIND = "remind"
    TELL = "tell"
    HELP = "help"


@dataclass(frozen=True)
class OrderButton(Callback, prefix="o"):
    """A button that acts on an order."""

    reference: Annotated[str, Pattern("[0-9A-Z]{4,16}")]
    action: OrderAction


NEWEST: Final = ""
"""Stands for the newest page of the list, in place of an order's reference."""


@dataclass(frozen=True)
class TellButton(Callback, prefix="tell"):
    """A button that shows the message to an order's recipient in another language."""

    reference: Annotated[str, Pattern("[0-9A-Z]{4,16}")]
    locale: Annotated[str, Pattern("|".join(LOCALES))]


@dataclass(frozen=True)
class HistoryButton(Callback, prefix="h"):
    """A button to the page of the list that begins at the order `first`, or to the newest page."""

    first: Annotated[str, Pattern("[0-9A-Z]{0,16}")]


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
    mode: DeliveryMode


@dataclass(frozen=True)
class DestinationsButton(Callback, prefix="dn"):
    """A button to a page of the list, counted from 0."""

    page: Annotated[str, Pattern("[0-9]{1,3}")] = "0"

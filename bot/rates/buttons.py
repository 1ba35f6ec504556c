"""The buttons of the rate, and of rate updates."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from bot.infra.telegram.ui.callbacks import Callback, Pattern
from bot.rates.model import ChartPeriod


class SubscriptionAction(StrEnum):
    """What a button of rate updates does.

    `OPEN` and `END` do the same as `SHOW` and `STOP`, but in a new message.
    """

    SHOW = "show"
    OPEN = "open"
    ASK_DAILY = "daily"
    SET_DAILY = "time"
    ASK_QUIET = "quiet"
    SET_QUIET = "hush"
    STOP = "stop"
    END = "end"
    ASK_PRICE = "alert"
    SET_PRICE = "at"
    SET_ALERT = "set"
    DELETE_ALERT = "drop"


@dataclass(frozen=True)
class RateButton(Callback, prefix="q"):
    """A button that shows the rate over a period."""

    period: ChartPeriod


@dataclass(frozen=True)
class SubscriptionButton(Callback, prefix="sub"):
    """A button of rate updates. What `argument` means depends on the action."""

    action: SubscriptionAction
    argument: Annotated[str, Pattern("[0-9a-z:-]{1,48}")] = ""

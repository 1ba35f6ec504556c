"""The buttons of users: those about their own tickets, and those of `/help`."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from bot.infra.telegram.ui.callbacks import Callback, Pattern


class UserTicketAction(StrEnum):
    """What a user's button does with their ticket."""

    SHOW = "show"
    WRITE = "say"
    REOPEN = "reopen"
    RATE = "rate"
    FORWARD = "pass"


@dataclass(frozen=True)
class UserTicketButton(Callback, prefix="t"):
    """A user's button about their ticket. `argument` is the rating."""

    ticket: Annotated[str, Pattern("T-[0-9A-Z]{5}")]
    action: UserTicketAction
    argument: Annotated[str, Pattern("[a-z0-9]{1,16}")] = ""


@dataclass(frozen=True)
class NewTicketButton(Callback, prefix="t:new"):
    """The button to write to support about no order."""


@dataclass(frozen=True)
class LeaveTicketQuestionButton(Callback, prefix="t:leave"):
    """The button that cancels writing to support."""


class HelpPage(StrEnum):
    """A page of `/help`."""

    FIRST = "show"
    SENDERS = "senders"  # the first page of senders, for members of staff, whose own page is the first
    COST = "cost"
    TIME = "time"
    LIGHTNING = "lightning"
    TROUBLE = "trouble"


@dataclass(frozen=True)
class HelpButton(Callback, prefix="help"):
    """The button to a page of `/help`."""

    page: HelpPage

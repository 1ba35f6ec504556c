"""The buttons of tickets that support agents press."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from bot.infra.telegram.ui.callbacks import Callback, Pattern


class StaffTicketAction(StrEnum):
    """What a support agent's button does with a ticket."""

    SHOW = "show"
    CLAIM = "claim"
    TAKE_OVER = "over"
    CLOSE = "close"
    CLOSE_AS = "closeas"
    REOPEN = "reopen"
    SEND_AGAIN = "again"
    REFRESH = "fresh"


@dataclass(frozen=True)
class StaffTicketButton(Callback, prefix="tk"):
    """A support agent's button about a ticket.

    `argument` is the reason for closing the ticket, the number of the reply to send again, or where to show the
    ticket.
    """

    ticket: Annotated[str, Pattern("T-[0-9A-Z]{5}")]
    action: StaffTicketAction
    argument: Annotated[str, Pattern("[a-z0-9_]{1,16}")] = ""

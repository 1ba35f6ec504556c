"""The buttons of payment requests."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from bot.infra.telegram.ui.callbacks import Callback, Pattern


class RequestAction(StrEnum):
    """What a button of one's own request does."""

    SHOW = "show"
    CARD = "card"
    PAUSE = "pause"
    RESUME = "resume"
    ASK_CLOSE = "ask"
    CLOSE = "close"
    EDIT_NOTE = "note"
    REMOVE_NOTE = "unnote"
    EDIT_END = "end"
    SET_END = "until"
    ASK_BROWSERS = "web"
    TO_BROWSERS = "web_on"
    LEAVE_BROWSERS = "web_off"
    PRINT = "print"


class RequestsAction(StrEnum):
    """What a button below the list of one's own requests does."""

    FILE = "file"
    DAILY = "daily"
    EACH = "each"


@dataclass(frozen=True)
class AskButton(Callback, prefix="ask"):
    """The button that begins a payment request."""


@dataclass(frozen=True)
class AskOverButton(Callback, prefix="ask:over"):
    """The button that begins a payment request in place of the open draft."""


@dataclass(frozen=True)
class RequestsButton(Callback, prefix="pr:list"):
    """A button that shows a page of one's own requests."""

    page: int = 0


@dataclass(frozen=True)
class RequestsActionButton(Callback, prefix="pr:all"):
    """A button about the payments of all of one's own requests."""

    action: RequestsAction


@dataclass(frozen=True)
class RequestButton(Callback, prefix="pr"):
    """A button of one's own request. `argument` is the days of `SET_END`, or the size of paper of `PRINT`."""

    request_id: Annotated[str, Pattern("[0-9a-f]{16}")]
    action: RequestAction
    argument: Annotated[str, Pattern("[0-9]{1,3}")] = ""


class ReportAction(StrEnum):
    """What an operator's button about a reported request does."""

    SHOW = "show"
    ASK_CLOSE = "ask"
    CLOSE = "close"
    ASK_CLOSE_ALL = "askall"
    CLOSE_ALL = "all"


@dataclass(frozen=True)
class ReportsButton(Callback, prefix="prr:list"):
    """An operator's button that shows the reported requests."""


@dataclass(frozen=True)
class ReportedButton(Callback, prefix="prr"):
    """An operator's button about a reported request."""

    request_id: Annotated[str, Pattern("[0-9a-f]{16}")]
    action: ReportAction


class PayAction(StrEnum):
    """What a payer's button does."""

    SHOW = "show"
    REVIEW = "sum"
    CONFIRM = "ok"
    CANCEL = "cancel"
    REPORT = "report"
    SCAM = "scam"
    NOT_FOR_ME = "not_for_me"
    OTHER = "other"


REASONS: Final = (PayAction.SCAM, PayAction.NOT_FOR_ME, PayAction.OTHER)
"""Why a payer reports a request, in the order of the buttons."""


@dataclass(frozen=True)
class PayButton(Callback, prefix="pay"):
    """A payer's button. It works for everyone who has the link.

    `idr` is the amount, which counts only if the payer decides. `sats` is the price that the review showed, and
    `review` is random: a review is confirmed once.
    """

    request_id: Annotated[str, Pattern("[0-9a-f]{16}")]
    action: PayAction
    idr: int = 0
    sats: int = 0
    review: Annotated[str, Pattern("[0-9a-f]{12}|")] = ""

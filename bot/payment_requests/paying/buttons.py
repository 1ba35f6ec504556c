"""The buttons of payers who have opened a link."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from bot.infra.telegram.ui.callbacks import Callback, Pattern


class PayAction(StrEnum):
    """What a payer's button does."""

    SHOW = "show"
    REVIEW = "sum"
    CONFIRM = "ok"
    REPORT = "report"
    SCAM = "scam"
    NOT_FOR_ME = "not_for_me"
    OTHER = "other"


REASONS: Final = (PayAction.SCAM, PayAction.NOT_FOR_ME, PayAction.OTHER)
"""Why a payer reports a request, in the order of the buttons."""


@dataclass(frozen=True)
class PayButton(Callback, prefix="pay"):
    """A payer's button. It works for everyone who has the link.

    `idr` is the sum, which counts only if the payer decides. `sats` is the price that the review showed, and `review`
    is random: a review is confirmed once.
    """

    request_id: Annotated[str, Pattern("[0-9a-f]{16}")]
    action: PayAction
    idr: int = 0
    sats: int = 0
    review: Annotated[str, Pattern("[0-9a-f]{12}|")] = ""

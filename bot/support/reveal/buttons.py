"""The buttons that show an order's full recipient."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from bot.infra.telegram.ui.callbacks import Callback, Pattern


class RevealAction(StrEnum):
    """What a button about a full recipient does."""

    ASK = "ask"
    FOR_REASON = "for"
    TYPE_REASON = "type"
    HIDE = "hide"


@dataclass(frozen=True)
class RevealButton(Callback, prefix="rv"):
    """A button about an order's full recipient. `argument` is the reason, or the id of the reveal to hide.

    `order` is our reference, or the service's id after an "@". To hide a reveal its own id is enough, so the service's
    id is left out.
    """

    order: Annotated[str, Pattern("[0-9A-Z]{4,16}|@[0-9A-Za-z_-]{0,48}")]
    action: RevealAction
    argument: Annotated[str, Pattern("[a-z0-9]{1,16}")] = ""

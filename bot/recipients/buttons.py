"""The buttons of saved recipients."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from bot.infra.telegram.ui.callbacks import Callback, Pattern


class RecipientAction(StrEnum):
    """What a button of one recipient does. `SAVE` asks for a name in a new message."""

    PAGE = "page"
    SEND = "send"
    ASK = "ask"
    REMIND = "remind"
    SAVE = "save"
    EDIT_NAME = "name"
    REMOVE_NAME = "unname"
    EDIT_HOLDER = "holder"
    REMOVE_HOLDER = "unhold"
    DELETE = "delete"
    CONFIRM_DELETION = "forget"


@dataclass(frozen=True)
class RecipientsButton(Callback, prefix="r:list"):
    """A button that shows a page of the list."""

    page: int = 0


@dataclass(frozen=True)
class RecipientButton(Callback, prefix="r"):
    """A button of one recipient."""

    recipient_id: Annotated[str, Pattern("[0-9a-f]{4,32}")]
    action: RecipientAction

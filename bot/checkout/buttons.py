"""Buttons on the screens of a draft."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from bot.checkout.draft import OrderDraft
from bot.infra.telegram.ui.callbacks import Callback, Pattern


class DraftAction(StrEnum):
    """What a button of a draft does."""

    SHOW = "show"
    BACK = "back"
    CANCEL = "cancel"
    RESUME = "resume"
    """Opens a draft again that has expired."""

    PAGE = "page"
    RECIPIENT = "again"
    DESTINATION = "pick"
    NUMBER = "use"
    SKIP = "skip"
    """Skips a question that needs no answer."""

    AMOUNT = "sum"
    USES = "uses"
    END = "end"
    CHANNEL = "pay"
    CHANGE = "change"
    """Offers the answers that can be changed. `EDIT` then asks one of them again."""

    EDIT = "edit"
    CONFIRM = "confirm"


@dataclass(frozen=True)
class DraftButton(Callback, prefix="d"):
    """A button of a draft. It only does something while the draft is as it was when the button was shown.

    What `argument` means depends on the action.
    """

    draft_id: Annotated[str, Pattern("[0-9a-f]{4,20}")]
    revision: int
    action: DraftAction
    argument: Annotated[str, Pattern(".{1,40}")] = ""


@dataclass(frozen=True)
class StartOverButton(Callback, prefix="over"):
    """The button that begins a new draft in place of the open one."""


@dataclass(frozen=True)
class LightningButton(Callback, prefix="lightning"):
    """The button under the first review that explains what Lightning is."""


def draft_data(draft: OrderDraft, action: DraftAction, argument: str = "") -> str:
    """Return the data of a button that belongs to this revision of `draft` alone."""
    return DraftButton(draft.id, draft.revision, action, argument).pack()

"""The buttons of saved replies: in the list, and to send one in a ticket."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from bot.core.locales import LOCALES
from bot.infra.telegram.ui.callbacks import Callback, Pattern

NAME: Final = Pattern("[a-z0-9-]{1,20}")
TICKET: Final = Pattern("T-[0-9A-Z]{5}")


class SavedReplyAction(StrEnum):
    """What a button of the list of saved replies does."""

    LIST = "list"
    SHOW = "show"
    ADD = "add"
    ASK_TO_DELETE = "ask"
    DELETE = "del"


@dataclass(frozen=True)
class SavedReplyButton(Callback, prefix="sa"):
    """A button of the list. `name` is the saved reply's, if the button is about one."""

    action: SavedReplyAction
    name: Annotated[str, NAME] = ""


@dataclass(frozen=True)
class WriteSavedReplyButton(Callback, prefix="sa:text"):
    """A button that asks for the text of a saved reply in one language."""

    name: Annotated[str, NAME]
    locale: Annotated[str, Pattern("|".join(LOCALES))]


@dataclass(frozen=True)
class SavedRepliesForTicketButton(Callback, prefix="sa:list"):
    """A ticket's button that lists the saved replies for it, in a new message."""

    ticket: Annotated[str, TICKET]


@dataclass(frozen=True)
class OtherSavedRepliesButton(Callback, prefix="sa:back"):
    """A preview's button that lists the saved replies, in place of the preview."""

    ticket: Annotated[str, TICKET]


@dataclass(frozen=True)
class PreviewSavedReplyButton(Callback, prefix="sa:pick"):
    """A button that previews a saved reply for a ticket."""

    ticket: Annotated[str, TICKET]
    name: Annotated[str, NAME]


@dataclass(frozen=True)
class SendSavedReplyButton(Callback, prefix="sa:send"):
    """A preview's button that sends the saved reply. `stamp` is a hash of the previewed text."""

    ticket: Annotated[str, TICKET]
    name: Annotated[str, NAME]
    stamp: Annotated[str, Pattern("[0-9a-f]{8}")]

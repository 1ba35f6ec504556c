"""Buttons of broadcasts."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Self

from bot.broadcasts.model import Broadcast
from bot.infra.telegram.ui.callbacks import Callback, Pattern


class BroadcastAction(StrEnum):
    """What a button of a broadcast does."""

    PAGE = "page"
    EDIT = "edit"
    TEXT = "text"
    DEFAULT_TEXT = "usual"
    PICTURE = "picture"
    AUDIENCE = "to"
    DAYS = "days"
    WHEN = "when"
    DAILY = "daily"
    DISCARD = "discard"
    COPY = "like"
    SHOW_MESSAGES = "see"
    PREVIEW = "preview"
    CONFIRM = "confirm"
    CONFIRM_ANYWAY = "sure"
    CANCEL = "off"


class DeliveryAction(StrEnum):
    """What a button of a started broadcast does."""

    SHOW = "show"
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    RETRY_UNKNOWN = "again"


@dataclass(frozen=True)
class BroadcastButton(Callback, prefix="bc"):
    """A button of one revision of a broadcast. The action decides what `argument` means."""

    broadcast_id: Annotated[str, Pattern("[0-9a-f]{10}")]
    revision: int
    action: BroadcastAction
    argument: Annotated[str, Pattern("[a-z0-9]{1,16}")] = ""

    @classmethod
    def for_broadcast(cls, broadcast: Broadcast, action: BroadcastAction, argument: str = "") -> Self:
        """Return the button for this revision of `broadcast`."""
        return cls(broadcast.id, broadcast.revision, action, argument)


@dataclass(frozen=True)
class BroadcastListButton(Callback, prefix="bc:list"):
    """A button to a page of the list. `offset` is the number of newer broadcasts on earlier pages."""

    offset: int


@dataclass(frozen=True)
class NewBroadcastButton(Callback, prefix="bc:new"):
    """A button that opens the operator's draft."""


@dataclass(frozen=True)
class DeliveryButton(Callback, prefix="bd"):
    """A button of a started broadcast."""

    broadcast_id: Annotated[str, Pattern("[0-9a-f]{4,32}")]
    action: DeliveryAction

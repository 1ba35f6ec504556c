"""The buttons of alarms."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from bot.infra.telegram.ui.callbacks import Callback, Pattern


class AlarmAction(StrEnum):
    """What a button of an alarm does: the last three settle the alarm, each in another message."""

    STATUS = "status"
    MINE = "mine"
    DONE = "done"
    TICK = "tick"
    LIST = "list"


@dataclass(frozen=True)
class AlarmButton(Callback, prefix="al"):
    """A button about the alarm of this `AlarmKind` and subject; both are empty where it is about all of them."""

    action: AlarmAction
    kind: Annotated[str, Pattern("[a-z_]{1,20}")] = ""
    subject: Annotated[str, Pattern("[0-9A-Z]{0,16}")] = ""

"""The buttons of alarms and of the audit log."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from bot.infra.telegram.ui.callbacks import Callback, Pattern


class AlarmAction(StrEnum):
    """What a button of an alarm does: the last three settle the alarm, each in another message."""

    STATUS = "status"
    OWN_ORDERS = "mine"
    RESOLVE_IN_ALARM = "done"
    RESOLVE_IN_STATUS = "tick"
    RESOLVE_IN_REMINDER = "list"


@dataclass(frozen=True)
class AlarmButton(Callback, prefix="al"):
    """A button about the alarm of this `AlarmKind` and subject; both are empty where it is about all of them."""

    action: AlarmAction
    kind: Annotated[str, Pattern("[a-z_]{1,20}")] = ""
    subject: Annotated[str, Pattern("[0-9A-Z]{0,16}")] = ""


@dataclass(frozen=True)
class AuditPageButton(Callback, prefix="au:page"):
    """A button to the entries older than the entry `before`, of the user with the id `actor`; empty means all."""

    before: Annotated[str, Pattern("(?:[0-9T]{21,22}-[0-9a-f]{8})?")]
    actor: Annotated[str, Pattern("[0-9]{0,16}")]


@dataclass(frozen=True)
class AuditExportButton(Callback, prefix="au:export"):
    """The button that asks for the period of the file."""


@dataclass(frozen=True)
class AuditFileButton(Callback, prefix="au:csv"):
    """A button that sends the log as a file; `period` is one of `NAMED_SPANS`."""

    period: Annotated[str, Pattern("[a-z_]{1,12}")]

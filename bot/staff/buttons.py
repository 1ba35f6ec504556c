"""Buttons of alarms and of the audit log."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from bot.infra.telegram.ui.callbacks import Callback, Pattern


class AlarmAction(StrEnum):
    """What a button of an alarm does. Most take or resolve it, and update the message with the button."""

    STATUS = "status"
    OWN_ORDERS = "mine"
    TAKE_IN_ALARM = "take"
    TAKE_IN_STATUS = "take_all"
    TAKE_IN_REMINDER = "take_list"
    RESOLVE_IN_ALARM = "done"
    RESOLVE_IN_STATUS = "tick"
    RESOLVE_IN_REMINDER = "list"
    PAID_OUT = "paid_out"
    REFUNDED = "refunded"
    NOT_REFUNDED = "not_refunded"
    OTHERWISE = "otherwise"
    UNDO = "undo"


@dataclass(frozen=True)
class AlarmButton(Callback, prefix="al"):
    """A button about the alarm of this `AlarmKind` and subject. Both are empty if it is about all alarms."""

    action: AlarmAction
    kind: Annotated[str, Pattern("[a-z_]{1,20}")] = ""
    subject: Annotated[str, Pattern("[0-9A-Za-z]{0,16}")] = ""


@dataclass(frozen=True)
class AuditPageButton(Callback, prefix="au:page"):
    """A button to the entries before the entry `before`, of the staff member with the id `actor`. Empty means all."""

    before: Annotated[str, Pattern("(?:[0-9T]{21,22}-[0-9a-f]{8})?")]
    actor: Annotated[str, Pattern("[0-9]{0,16}")]


@dataclass(frozen=True)
class AuditExportButton(Callback, prefix="au:export"):
    """A button that asks for the period of the file."""


@dataclass(frozen=True)
class AuditFileButton(Callback, prefix="au:csv"):
    """A button that sends the log as a file. `period` is one of `NAMED_SPANS`."""

    period: Annotated[str, Pattern("[a-z_]{1,12}")]

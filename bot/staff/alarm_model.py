"""What is kept of alarms to operators."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final


class AlarmKind(StrEnum):
    """What may be wrong."""

    KEY_REFUSED = "key_refused"
    SERVICE_DOWN = "service_down"
    METHODS_SHRUNK = "methods_shrunk"
    ORDER_STUCK = "order_stuck"
    ORDER_FAILED = "order_failed"
    INVOICE_MISMATCH = "invoice_mismatch"
    OUTBOX_BACKLOG = "outbox_backlog"
    POLLER_SILENT = "poller_silent"
    MESSAGE_REFUSED = "message_refused"  # Telegram refuses a message about money for good
    PICTURE_REFUSED = "picture_refused"  # an invoice was sent without its picture
    ROW_UNREADABLE = "row_unreadable"  # a row can't be read
    STAFF_CHAT_LOST = "staff_chat_lost"  # support's group can't be written to


ORDER_ALARMS: Final = frozenset(
    {
        AlarmKind.ORDER_STUCK,
        AlarmKind.ORDER_FAILED,
        AlarmKind.INVOICE_MISMATCH,
        AlarmKind.MESSAGE_REFUSED,
        AlarmKind.PICTURE_REFUSED,
    }
)
"""Their subject is an order's reference."""

RESOLVABLE_ALARMS: Final = frozenset({*ORDER_ALARMS, AlarmKind.STAFF_CHAT_LOST})
"""An operator may say that they are dealt with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """Something that is wrong, or was until `cleared_at`.

    `subject` tells two of a kind apart; `facts` are JSON values, and masked.
    """

    id: int = 0
    kind: AlarmKind
    subject: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)
    raised_at: datetime
    reminded_at: datetime | None = None
    cleared_at: datetime | None = None

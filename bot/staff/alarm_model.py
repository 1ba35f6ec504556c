"""Values of alarms."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final


class AlarmKind(StrEnum):
    """What is wrong."""

    KEY_REFUSED = "key_refused"
    SERVICE_DOWN = "service_down"
    METHODS_SHRUNK = "methods_shrunk"
    ORDER_STUCK = "order_stuck"
    ORDER_FAILED = "order_failed"
    INVOICE_MISMATCH = "invoice_mismatch"
    OUTBOX_BACKLOG = "outbox_backlog"
    POLLER_SILENT = "poller_silent"
    MESSAGE_REFUSED = "message_refused"  # Telegram rejected a message about money, and a retry wouldn't help
    PICTURE_REFUSED = "picture_refused"  # an invoice was sent without its picture
    INVOICE_NOT_REMOVED = "invoice_not_removed"  # an invoice that must no longer be paid is still visible
    ROW_UNREADABLE = "row_unreadable"  # a row can't be read
    ROW_LEFT = "row_left"  # a process can't read a row: it lacks the key, or a later version wrote the row
    RIGHT_MISSING = "right_missing"  # the role on PostgreSQL may not read and write a table
    SECOND_POLLER = "second_poller"  # another program receives the bot's updates
    DESTINATION_SLOW = "destination_slow"  # one destination is slow, and others aren't
    DESTINATION_FAILING = "destination_failing"  # transfers to one destination fail, and to others don't
    DESTINATION_UNCLEAR = "destination_unclear"  # the service's entry of one can't be read, so it takes no orders
    ORDER_MISSING = "order_missing"  # the service doesn't have an order that was paid or can be paid
    AMOUNT_DIFFERS = "amount_differs"  # the service has another amount of an order
    STATE_DIFFERS = "state_differs"  # the service has another state of an order, and money was taken or sent
    PAID_UNFOLLOWED = "paid_unfollowed"  # the service says that an order was paid that we no longer follow
    DEPOSIT_SHARED = "deposit_shared"  # one deposit could pay two orders
    STAFF_CHAT_LOST = "staff_chat_lost"  # the bot can't write to the group of support agents


ORDER_ALARMS: Final = frozenset(
    {
        AlarmKind.ORDER_STUCK,
        AlarmKind.ORDER_FAILED,
        AlarmKind.INVOICE_MISMATCH,
        AlarmKind.MESSAGE_REFUSED,
        AlarmKind.PICTURE_REFUSED,
        AlarmKind.INVOICE_NOT_REMOVED,
        AlarmKind.ORDER_MISSING,
        AlarmKind.AMOUNT_DIFFERS,
        AlarmKind.STATE_DIFFERS,
        AlarmKind.PAID_UNFOLLOWED,
        AlarmKind.DEPOSIT_SHARED,
    }
)
"""Alarms about an order. Their subject is the order's reference."""

DESTINATION_ALARMS: Final = frozenset(
    {AlarmKind.DESTINATION_SLOW, AlarmKind.DESTINATION_FAILING, AlarmKind.DESTINATION_UNCLEAR}
)
"""Alarms about a bank or an e-wallet. Their subject begins with the key of the payout method. A fact has its name."""

SERVICE_ALARMS: Final = frozenset(
    {
        AlarmKind.KEY_REFUSED,
        AlarmKind.SERVICE_DOWN,
        AlarmKind.METHODS_SHRUNK,
        AlarmKind.ORDER_STUCK,
        AlarmKind.ORDER_FAILED,
        AlarmKind.INVOICE_MISMATCH,
        *DESTINATION_ALARMS,
        AlarmKind.ORDER_MISSING,
        AlarmKind.AMOUNT_DIFFERS,
        AlarmKind.STATE_DIFFERS,
        AlarmKind.PAID_UNFOLLOWED,
        AlarmKind.DEPOSIT_SHARED,
    }
)
"""Alarms that the settlement service has to help with. They say where it is reached."""

RESOLVABLE_ALARMS: Final = frozenset({*ORDER_ALARMS, AlarmKind.STAFF_CHAT_LOST})
"""Alarms that an operator can mark as resolved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """A problem that is reported to operators, until `cleared_at`.

    `subject` distinguishes two alarms of a kind. `facts` are JSON values, in which personal data is masked.
    """

    id: int = 0
    kind: AlarmKind
    subject: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)
    raised_at: datetime
    reminded_at: datetime | None = None
    cleared_at: datetime | None = None

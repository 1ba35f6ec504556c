"""Alarms with their subjects, entries of the audit log, and the settings of staff."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from enum import StrEnum
from typing import Final, Protocol, Self

from bot.core.time_of_day import is_quiet, next_at
from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Html, Translator


class AuditAction(StrEnum):
    """What staff did."""

    LOOKED = "looked"
    REVEALED = "revealed"
    CLAIMED = "claimed"
    ANSWERED = "answered"
    EDITED = "edited"
    WITHDREW = "withdrew"
    NOTED = "noted"
    CLOSED = "closed"
    BROADCAST = "broadcast"
    CHANGED = "changed"
    EXPORTED = "exported"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """Who did what to what, and when. `subject` names it: "order:R2345AB", "ticket:T-4F7K2", "broadcast:…".

    `user_id` is the user concerned, 0 for none. `detail` can be a reason that staff typed. It is stored encrypted.
    """

    id: str = ""
    at: datetime
    actor_id: int
    action: AuditAction
    subject: str
    user_id: int = 0
    detail: str = field(default="", repr=False)


class Urgency(StrEnum):
    """How soon operators have to act. The runbook has the same three."""

    AT_ONCE = "at_once"  # money waits, customers can't send, or the bot doesn't work
    TODAY = "today"
    WHEN_CONVENIENT = "when_convenient"


class AlarmKind(StrEnum):
    """What is wrong, and how urgent it is: at once, unless it says otherwise."""

    urgency: Urgency

    def __new__(cls, name: str, urgency: Urgency = Urgency.AT_ONCE) -> Self:
        """Create the kind that rows store by this name."""
        member = str.__new__(cls, name)
        member._value_, member.urgency = name, urgency
        return member

    KEY_REFUSED = "key_refused"
    SERVICE_DOWN = "service_down"
    METHODS_SHRUNK = "methods_shrunk", Urgency.TODAY
    ORDER_STUCK = "order_stuck"
    ORDER_FAILED = "order_failed"
    INVOICE_MISMATCH = "invoice_mismatch", Urgency.TODAY
    OUTBOX_BACKLOG = "outbox_backlog"
    POLLER_SILENT = "poller_silent"
    MESSAGE_REFUSED = "message_refused", Urgency.TODAY  # Telegram rejects a message about money for good
    PICTURE_REFUSED = "picture_refused", Urgency.WHEN_CONVENIENT  # an invoice was sent without its picture
    INVOICE_NOT_REMOVED = "invoice_not_removed"  # an invoice that must no longer be paid is still visible
    ROW_UNREADABLE = "row_unreadable"  # a row can't be read
    RIGHT_MISSING = "right_missing"  # the role on PostgreSQL may not read and write a table
    SECOND_POLLER = "second_poller"  # another program receives the bot's updates
    DESTINATION_SLOW = "destination_slow", Urgency.TODAY  # one destination is slow
    DESTINATION_FAILING = "destination_failing", Urgency.TODAY  # transfers to one destination fail
    DESTINATION_UNCLEAR = "destination_unclear", Urgency.TODAY  # the service's entry of one can't be read
    ORDER_MISSING = "order_missing"  # the service doesn't have an order that was paid or can be paid
    AMOUNT_DIFFERS = "amount_differs", Urgency.TODAY  # the service has another amount of an order
    STATE_DIFFERS = "state_differs", Urgency.TODAY  # the service has another state of a paid order
    PAID_UNFOLLOWED = "paid_unfollowed"  # the service says that an order was paid that we no longer follow
    DEPOSIT_SHARED = "deposit_shared"  # one deposit could pay two orders
    STAFF_CHAT_LOST = "staff_chat_lost", Urgency.TODAY  # the bot can't write to the group of support agents


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

    `subject` distinguishes two alarms of a kind. `facts` are JSON values, in which personal data is masked. One that
    was raised shortly after another waits until `joined_until`, for one message with all of them. `taken_by` is the
    operator who is on it, since `taken_at`.
    """

    id: int = 0
    kind: AlarmKind
    subject: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)
    raised_at: datetime
    joined_until: datetime | None = None
    reminded_at: datetime | None = None
    cleared_at: datetime | None = None
    taken_by: int | None = None
    taken_at: datetime | None = None

    @property
    def repeats(self) -> bool:
        """Whether it is urgent, and nobody is on it."""
        return self.kind.urgency is Urgency.AT_ONCE and self.taken_by is None


def takers(alarms: Iterable[Alarm]) -> set[int]:
    """Return the operators who are on these alarms."""
    return {alarm.taken_by for alarm in alarms if alarm.taken_by is not None}


NIGHT: Final = (22 * 60, 8 * 60)
"""The minutes of an operator's own day from which and until which only what is urgent comes."""


def find_notice_time(alarm: Alarm, zone: tzinfo) -> datetime:
    """Return when an operator in this zone is notified of an alarm: at once, with others, or in the next morning."""
    urgency, at = alarm.kind.urgency, alarm.joined_until or alarm.raised_at
    is_night = urgency is Urgency.TODAY and is_quiet(at, zone, *NIGHT)
    return next_at(NIGHT[1], zone, at) if is_night or urgency is Urgency.WHEN_CONVENIENT else at


MAX_ALARMS_SHOWN: Final = 7
"""Alarms in one message. The message says how many more there are."""


class AlarmSubject(Protocol):
    """The subject of an alarm, such as an order."""

    @property
    def user_id(self) -> int:
        """The user whom the subject belongs to."""

    @property
    def service_id(self) -> str:
        """The id at the settlement service; "" if it has none."""

    def format_line(self, t: Translator) -> Html:
        """Return the subject in one line for operators."""

    def format_status(self, t: Translator, now: datetime) -> Html:
        """Return the subject's status in one line."""


Subjects = Mapping[str, AlarmSubject]
"""`Alarm.subject` -> the loaded subject."""


LoadSubject = Callable[[Transaction, str], Awaitable[AlarmSubject | None]]
"""Returns the order of a reference, or None if it was deleted or can't be read."""


OnHandled = Callable[[Transaction, str, str, datetime], Awaitable[bool]]
"""Called when staff say how an order ended, with the reference and the `Outcome`, or `UNDONE`.

It returns whether that was recorded now.
"""

UNDONE: Final = "undone"


class AlarmSubjects:
    """Load the subject of an alarm."""

    def __init__(self, load_order: LoadSubject) -> None:
        self._load_order = load_order

    async def load(self, tx: Transaction, kind: AlarmKind, subject: str) -> AlarmSubject | None:
        """Return the subject of an alarm; None if it has none, or it can't be read."""
        return await self._load_order(tx, subject) if subject and kind in ORDER_ALARMS else None

    async def load_all(self, tx: Transaction, alarms: Iterable[Alarm]) -> Subjects:
        """Return the subjects of the alarms that one message shows."""
        shown = [alarm for alarm in alarms if alarm.subject][:MAX_ALARMS_SHOWN]
        found = {alarm.subject: await self.load(tx, alarm.kind, alarm.subject) for alarm in shown}
        return {subject: about for subject, about in found.items() if about is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class StaffRules:
    """Who the staff are, and how users and alarms reach them."""

    operator_ids: frozenset[int] = frozenset()
    agent_ids: frozenset[int] = frozenset()
    """The support agents, or the operators if there are none."""

    chat_id: int = 0
    """The group where support agents work; 0 if each works in their private chat."""

    contact: str = ""
    """An address outside the bot to which users can write; empty for none."""

    service_contact: str = ""
    """Where operators reach the settlement service; empty for unknown."""

    failed_payout_policy_url: str = ""
    """Where users can read what happens after a failed payout; empty for none."""

    remind_after: timedelta = timedelta(hours=1)
    """The time after which operators are reminded of an alarm."""

    repeat_after: timedelta = timedelta(minutes=10)
    """The time after which an urgent alarm comes again if nobody is on it, twice."""

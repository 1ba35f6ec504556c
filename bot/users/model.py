"""What the store keeps besides drafts and orders: persons, updates, news and events, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final
from zoneinfo import ZoneInfo

from bot.core.zones import zone_of
from bot.orders.order import Phase
from bot.recipients.methods import PayoutMethod


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who has written to the bot in private; there the chat's id is the person's own.

    `suggestion` is the code of the phrase that was suggested to them last; without a phrase of their own, their first
    invoice bears that one. `notices` is what they chose about being told (kind -> how), where it differs from the
    usual. `awaits` names the question outside of a draft whose typed answer is waited for
    (`infra/telegram/ui/questions.py`), and `answered_update_id` the last update that has answered one. `seen_at` is
    when they last acted, to a day. An empty `time_zone` is one that they haven't chosen: Jakarta's is presumed.
    `username` is their public name, in small letters and without @.
    """

    id: int
    language_code: str | None = None
    locale: str | None = None
    time_zone: str = ""
    blocked_at: datetime | None = None
    created_at: datetime
    phrase: str | None = field(default=None, repr=False)
    suggestion: str | None = field(default=None, repr=False)
    notices: Mapping[str, str] | None = None
    awaits: str | None = None
    answered_update_id: int | None = None
    delete_asked_at: datetime | None = None
    seen_at: datetime | None = None
    username: str | None = None

    @property
    def zone(self) -> ZoneInfo:
        """The time they live by."""
        return zone_of(self.time_zone)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedOrder:
    """An order about which a user missed a message. `at` is when Telegram last refused one for good."""

    person_id: int
    reference: str
    at: datetime


TAKEN_BY_DRAFT: Final = "draft"
TAKEN_BY_QUESTION: Final = "question"


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    """An update that Telegram has given us, kept until it is dealt with. `body` is its JSON.

    `taken_by` is set in the transaction in which a draft or an answer to a question took it in (`TAKEN_BY_…`).
    """

    update_id: int
    chat_id: int
    body: str = field(repr=False)
    received_at: datetime
    attempts: int = 0
    taken_by: str | None = None


class Queue(StrEnum):
    """Where a message waits. In a chat each queue keeps its order, and none waits for another."""

    MONEY = "money"
    EXTRA = "extra"  # pictures, files and talk: a bounded number of tries
    RATE = "rate"


class NotificationStatus(StrEnum):
    """Where a piece of news is on its way to the person."""

    WAITING = "waiting"
    SENDING = "sending"  # committed before the request: after a crash it may have arrived
    TOLD = "told"
    UNDELIVERABLE = "undeliverable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """One row of the outbox. Unique by (subject, kind, chat); rows of one chat are told in the order of `id`."""

    id: int = 0
    chat_id: int
    subject: str
    kind: str
    payload: Mapping[str, object] = field(default_factory=dict)
    status: NotificationStatus = NotificationStatus.WAITING
    attempts: int = 0
    maybe_told: bool = False
    due_at: datetime
    created_at: datetime
    message_id: int | None = None
    told_at: datetime | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Backlog:
    """News that have waited too long: how many, and since when the oldest."""

    count: int = 0
    since: datetime | None = None


class EventNote(StrEnum):
    """What neither phase nor state tells of an event."""

    INTENDED = "intended"
    PRICE_ACCEPTED = "price accepted"
    DROPPED = "dropped by the person"
    TRIED_AGAIN = "tried again as a new order"
    OFFER_OVER = "the offer is over"
    OUTSIDE_LIMITS = "locked outside the limits"
    SUPERSEDED = "the sender had ordered the same again"
    DEPOSIT_TAKEN = "another open deposit looks the same"
    EXPIRED = "expired"
    STUCK = "told that it takes too long"
    PAYMENT = "the payment's own time"  # where the state that it leads to wasn't seen
    INVOICE_REPLACED = "the service names another invoice"  # which is never shown to anybody


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderEvent:
    """What was seen of an order, and when: its timeline for people and for support. `note` is an `EventNote` or "".

    `at` is our own time; `service_at` is the service's, for the states of which it tells one.
    """

    reference: str
    at: datetime
    phase: Phase
    state: str
    note: str = ""
    service_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredDraft:
    """An open draft past its time: what is needed to put it away in its chat's own queue."""

    id: str
    chat_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """Somebody whom a person has sent to: kept to be offered again, perhaps under a name of the person's ("Ibu")."""

    id: str
    person_id: int
    method: PayoutMethod
    number: str = field(repr=False)
    holder: str | None = field(default=None, repr=False)
    label: str | None = field(default=None, repr=False)
    created_at: datetime
    used_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The receipt of an order that was sent: its verification code and its hash. A forgotten person's has no code."""

    reference: str
    code: str = field(repr=False)
    code_hash: str
    created_at: datetime

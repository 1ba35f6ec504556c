"""What the use cases need of the world: the settlement service, a store, a clock.

Errors of a port (translated once, at the adapter's border)::

    SettlementFailure
    ├── NotMade            a POST that surely made no order
    │   ├── Refused        the service said why (400); its words are for staff
    │   └── OutOfReach     never reached, rate limited, or the key was refused
    ├── OutcomeUnknown     a POST that may have made an order: no answer, any 5xx, an unreadable answer
    ├── KeyRefused         401: every further call would be refused too
    ├── OrderNotFound      404
    ├── SlowDown           429; `retry_after` seconds
    └── ServiceDown        no use can be made of the answer to a read
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Protocol

from bot.domain.draft import OrderDraft
from bot.domain.money import Amount
from bot.domain.order import Deposit, Order, OrderReport, Phase
from bot.domain.payout import PayoutMethod
from bot.domain.quote import Quote


class SettlementFailure(Exception):
    """A call to the settlement service that brought nothing."""


class NotMade(SettlementFailure):
    """A POST that surely made no order."""


class Refused(NotMade):
    """The service refused the order; `reason` is its own text: data, for staff, never for a log."""

    def __init__(self, reason: str = "") -> None:
        super().__init__("the service refused the order")
        self.reason = reason


class OutOfReach(NotMade):
    """The POST never reached the service, or was turned away at its door."""


class OutcomeUnknown(SettlementFailure):
    """A POST that may or may not have made an order; only the list can tell."""


class KeyRefused(SettlementFailure):
    """The service refused our API key (401)."""


class OrderNotFound(SettlementFailure):
    """The service knows no such order (404)."""


class SlowDown(SettlementFailure):
    """The service asked us to call less often (429)."""

    def __init__(self, retry_after: float | None = None) -> None:
        super().__init__("the service asked for fewer requests")
        self.retry_after = retry_after


class ServiceDown(SettlementFailure):
    """A read that brought nothing usable: outage, time-out, or an answer that can't be understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The body of an order's creation (settlement API, 2.5), in our words."""

    method: PayoutMethod
    number: str = field(repr=False)
    holder: str | None = field(repr=False)
    given: Amount
    channel: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """The service's answer to an order's creation (settlement API, 2.6)."""

    service_id: str
    sats: int
    idr: int
    btc_idr: Decimal | None
    bolt11: str | None
    deposit: Deposit | None
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest orders of our key, newest first, and the service's own clock when it listed them."""

    reports: tuple[OrderReport, ...]
    served_at: datetime | None


class StoreDown(Exception):
    """The database failed: nothing of the transaction was kept, and it may be tried again."""


class Settlement(Protocol):
    """The settlement service. Every method raises `SettlementFailure`; only `place` raises `NotMade` or unknown."""

    async def quote(self) -> Quote:
        """The cached rate (4.1)."""
        ...

    async def payout_methods(self) -> tuple[PayoutMethod, ...]:
        """The live list (4.2), in the service's order; possibly empty."""
        ...

    async def deposit_channels(self) -> frozenset[str]:
        """The channels beside Lightning that `deposit/rails` (4.3) has: a subset of {"cbbtc", "btcb"}."""
        ...

    async def place(self, wish: Wish) -> Placed:
        """Create an order (4.5): exactly one request, never repeated."""
        ...

    async def look_up(self, service_id: str) -> OrderReport:
        """One order (4.6)."""
        ...

    async def newest(self, limit: int = 100) -> Newest:
        """The newest orders (4.7). An empty list proves nothing."""
        ...


class Clock(Protocol):
    """The time, so that tests need not wait for it."""

    def now(self) -> datetime:
        """The time now, aware, in UTC."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who has written to the bot in private; there the chat's id is the person's own."""

    id: int
    language_code: str | None = None
    locale: str | None = None
    time_zone: str = "Asia/Jakarta"
    blocked_at: datetime | None = None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    """An update that Telegram has given us, kept until it is dealt with. `body` is its JSON."""

    update_id: int
    chat_id: int
    body: str = field(repr=False)
    received_at: datetime
    attempts: int = 0


class NewsStatus(StrEnum):
    """Where a piece of news is on its way to the person."""

    WAITING = "waiting"
    SENDING = "sending"  # committed before the request: after a crash it may have arrived
    TOLD = "told"
    UNDELIVERABLE = "undeliverable"


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """One row of the outbox. Unique by (subject, kind, chat); rows of one chat are told in the order of `id`."""

    id: int = 0
    chat_id: int
    subject: str
    kind: str
    payload: Mapping[str, object] = field(default_factory=dict)
    status: NewsStatus = NewsStatus.WAITING
    attempts: int = 0
    maybe_told: bool = False
    due_at: datetime
    created_at: datetime
    message_id: int | None = None
    told_at: datetime | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderEvent:
    """What was seen of an order, and when: its timeline for people and for support."""

    reference: str
    at: datetime
    phase: Phase
    state: str
    note: str = ""


class People(Protocol):
    """The persons who have met the bot."""

    async def get(self, person_id: int) -> Person | None: ...
    async def save(self, person: Person) -> None:
        """Insert or replace."""
        ...


class Inbox(Protocol):
    """Updates committed before Telegram is told that they arrived."""

    async def add(self, items: Sequence[InboxItem]) -> frozenset[int]:
        """Keep those not seen before; their update ids."""
        ...

    async def waiting(self, chat_id: int, *, after: int = 0, limit: int = 50) -> tuple[InboxItem, ...]:
        """The unfinished updates of a chat with an id above `after`, in order."""
        ...

    async def chats_waiting(self) -> tuple[int, ...]:
        """The chats that have unfinished updates, the longest waiting first."""
        ...

    async def count_attempt(self, update_ids: Collection[int]) -> None: ...
    async def finish(self, update_ids: Collection[int], at: datetime) -> None: ...
    async def forget_finished(self, before: datetime) -> int: ...


class Drafts(Protocol):
    """Drafts; at most one open draft a chat, which the database itself ensures."""

    async def get(self, draft_id: str) -> OrderDraft | None: ...
    async def open_of(self, chat_id: int) -> OrderDraft | None: ...
    async def add(self, draft: OrderDraft) -> bool:
        """Keep a new draft; False where the chat has an open one already."""
        ...

    async def save(self, draft: OrderDraft) -> OrderDraft | None:
        """Save over the same revision and return it with the next one; None where somebody else has saved."""
        ...

    async def lapsed(self, now: datetime, limit: int = 100) -> tuple[OrderDraft, ...]:
        """Open drafts past their `expires_at`."""
        ...


class Orders(Protocol):
    """Orders, from the intent on."""

    async def add(self, order: Order) -> bool:
        """Keep a new intent; False where this (draft, attempt) or reference has one already."""
        ...

    async def get(self, reference: str) -> Order | None: ...
    async def of_draft(self, draft_id: str) -> Order | None:
        """The latest attempt of a draft."""
        ...

    async def by_service_id(self, service_ids: Collection[str]) -> Mapping[str, Order]:
        """The orders that have claimed any of these ids of the service."""
        ...

    async def of_person(self, person_id: int, *, limit: int = 10, offset: int = 0) -> tuple[Order, ...]:
        """Newest first."""
        ...

    async def open_of_person(self, person_id: int, limit: int = 10) -> tuple[Order, ...]:
        """Those not yet ended (phases intended, unknown, unresolved, held, open), newest first."""
        ...

    async def save(self, order: Order) -> Order | None:
        """Save over the same version and return it with the next one; None where somebody else has saved."""
        ...

    async def due(self, now: datetime, limit: int = 1000) -> tuple[Order, ...]:
        """Orders whose `next_look_at` has come: paid ones first, then the longest waiting."""
        ...

    async def count_due(self, now: datetime) -> int: ...
    async def in_phase(self, phases: Collection[Phase], limit: int = 1000) -> tuple[Order, ...]:
        """Oldest first."""
        ...

    async def expiring(self, now: datetime, limit: int = 1000) -> tuple[Order, ...]:
        """Open orders past `expires_at` of which the expiry has not been told and that are not paid."""
        ...

    async def unclaimed_like(self, order: Order, since: datetime) -> tuple[Order, ...]:
        """Other intents without a service id, same method code, created since: those an order could be mistaken for.

        Of every phase but refused: an abandoned one may still have made an order.
        """
        ...

    async def add_event(self, event: OrderEvent) -> None: ...
    async def events(self, reference: str) -> tuple[OrderEvent, ...]: ...


class Outbox(Protocol):
    """News to tell, in order within a chat."""

    async def add(self, news: Sequence[News]) -> int:
        """Keep those that are new by (subject, kind, chat); how many were."""
        ...

    async def heads(self, now: datetime, limit: int = 100) -> tuple[News, ...]:
        """For each chat its first row that is waiting or sending, if that one is waiting and due."""
        ...

    async def next_due(self) -> datetime | None:
        """When the next head falls due."""
        ...

    async def start(self, news_id: int) -> bool:
        """Waiting -> sending, counting the attempt; False where somebody else has started it."""
        ...

    async def told(self, news_id: int, message_id: int | None, at: datetime) -> None: ...
    async def retry(self, news_id: int, due_at: datetime, *, maybe_told: bool) -> None:
        """Sending -> waiting until `due_at`; `maybe_told` sticks once it is set."""
        ...

    async def give_up(self, news_id: int, failure: str) -> None: ...
    async def give_up_chat(self, chat_id: int, failure: str) -> int:
        """Every row of a chat that can't be reached any more."""
        ...

    async def left_sending(self) -> tuple[News, ...]:
        """Rows that a crash has left in the middle of a request."""
        ...

    async def message_of(self, subject: str, kind: str, chat_id: int) -> int | None:
        """The id of the message which told this news."""
        ...

    async def replace_message(self, subject: str, kind: str, chat_id: int, message_id: int | None) -> None:
        """A card that was sent anew has another message's id."""
        ...

    async def forget_told(self, before: datetime) -> int:
        """Prune rows told before, except those of subjects that may still need their message ids."""
        ...


class Transaction(Protocol):
    """The repositories within one transaction."""

    @property
    def people(self) -> People: ...
    @property
    def inbox(self) -> Inbox: ...
    @property
    def drafts(self) -> Drafts: ...
    @property
    def orders(self) -> Orders: ...
    @property
    def outbox(self) -> Outbox: ...


class Store(Protocol):
    """The database. What is written in one `transaction` is saved together or not at all."""

    def transaction(self) -> AbstractAsyncContextManager[Transaction]:
        """Commits at the end of the block, rolls back on any exception."""
        ...

    def reading(self) -> AbstractAsyncContextManager[Transaction]:
        """For reads only: takes no write lock."""
        ...


@dataclass(frozen=True, slots=True)
class Told:
    """The news reached its chat, or nothing needed to be sent."""

    message_id: int | None = None


@dataclass(frozen=True, slots=True)
class TellLater:
    """Not told yet: again in `after` seconds. `maybe_told` where the request may have arrived."""

    after: float
    maybe_told: bool = False


@dataclass(frozen=True, slots=True)
class Untellable:
    """It will never be told: the chat can't be reached (`whole_chat`) or the message itself is refused."""

    reason: str
    whole_chat: bool = False


class Teller(Protocol):
    """Turns one piece of news into a message in its reader's language, and sends, edits or deletes."""

    async def tell(self, news: News) -> Told | TellLater | Untellable:
        """One attempt; never raises for anything that Telegram may answer."""
        ...

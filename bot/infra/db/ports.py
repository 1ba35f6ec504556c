"""What the use cases need of a database: repositories within a transaction, whichever database it is."""

# ruff: noqa: D102  names and types say it; the other methods have a docstring

from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol

from bot.broadcasts.model import Broadcasts, Deliveries
from bot.checkout.draft import OrderDraft
from bot.operations.statistics_model import Figures
from bot.orders.ports import Orders
from bot.rates.model import Quotes, Subscriptions
from bot.staff.alarm_model import Alarms
from bot.staff.model import Acts, Audit, Reveals, SavedReplies
from bot.support.lookup.model import Lookups
from bot.support.model import TicketEntries, TicketPosts, Tickets
from bot.users.deletion_model import Forgetting
from bot.users.model import (
    Backlog,
    ExpiredDraft,
    InboxItem,
    MissedOrder,
    Notification,
    Person,
    Queue,
    Receipt,
    Recipient,
)


class StoreDown(Exception):
    """The database failed: nothing of the transaction was kept, and it may be tried again."""


class RowUnreadable(StoreDown):
    """A row can't be read: it was changed or moved, or its key is gone. Trying again doesn't help."""

    table: str = ""
    """Which table the row is in."""

    @property
    def is_of_order(self) -> bool:
        """Whether the row is an order."""
        return self.table == "orders"

    @property
    def is_of_draft(self) -> bool:
        """Whether the row is a draft."""
        return self.table == "drafts"


class RuleBroken(StoreDown):
    """The database refused what would break a rule of its tables. Trying again doesn't help."""


LASTING = (RowUnreadable, RuleBroken)
"""Failures that stay the same however often the same is tried."""


class People(Protocol):
    """The persons who have met the bot."""

    async def get(self, person_id: int) -> Person | None: ...
    async def get_if_readable(self, person_id: int) -> Person | None:
        """Return the person, or None where the row can't be read, which is noted."""
        ...

    async def save(self, person: Person) -> None:
        """Insert or replace."""
        ...


class MissedOrders(Protocol):
    """The orders about which Telegram refused a message for good, until their user has seen them."""

    async def save(self, missed: MissedOrder) -> None:
        """Insert, or replace the time of the refusal before."""
        ...

    async def of_person(self, person_id: int) -> tuple[MissedOrder, ...]:
        """Return what a user has to see, oldest first."""
        ...

    async def delete(self, seen: Sequence[MissedOrder]) -> None:
        """Delete what the user has seen, but not an order about which another message was refused since."""
        ...

    async def forget(self, before: datetime) -> int:
        """Delete what was refused before, and return how many orders that were."""
        ...


class Inbox(Protocol):
    """Updates committed before Telegram is told that they arrived."""

    async def add(self, items: Sequence[InboxItem]) -> frozenset[int]:
        """Keep those not seen before; their update ids."""
        ...

    async def waiting(self, chat_id: int, *, known: Collection[int] = (), limit: int = 50) -> tuple[InboxItem, ...]:
        """The unfinished updates of a chat but for those that are `known`, in the order in which they came."""
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
    async def has_open(self, chat_id: int) -> bool:
        """Whether the chat has an open draft, which may be unreadable."""
        ...

    async def add(self, draft: OrderDraft) -> bool:
        """Keep a new draft; False where the chat has an open one already."""
        ...

    async def save(self, draft: OrderDraft) -> OrderDraft | None:
        """Save over the same revision and return it with the next one; None where somebody else has saved."""
        ...

    async def lapsed(self, now: datetime, limit: int = 100) -> tuple[ExpiredDraft, ...]:
        """Open drafts past their `expires_at`, also those that can't be read."""
        ...

    async def set_aside(self, draft_id: str) -> None:
        """Close a draft that can't be read (`RowUnreadable`), if it is open."""
        ...

    async def set_open_aside(self, chat_id: int) -> None:
        """Close the open draft of a chat, which can't be read."""
        ...

    async def of_person(self, person_id: int) -> tuple[OrderDraft, ...]:
        """All that are kept and can be read, whatever their status."""
        ...


class Outbox(Protocol):
    """News to tell, in order within a chat."""

    async def add(self, news: Sequence[Notification]) -> int:
        """Keep those that are new by (subject, kind, chat); how many were."""
        ...

    async def heads(self, now: datetime, limit: int = 100, queue: Queue = Queue.MONEY) -> tuple[Notification, ...]:
        """For each chat its first row that is waiting or sending, if that one is waiting and due.

        News of the rate and all others are two queues beside each other.
        """
        ...

    async def next_due(self) -> datetime | None:
        """When the next head falls due."""
        ...

    async def due_after(self, moment: datetime, limit: int = 100) -> tuple[Notification, ...]:
        """Return waiting rows that fall due after `moment`, heads or not, the latest first."""
        ...

    async def count_due(self, subject_start: str, now: datetime) -> int:
        """How many rows of such subjects are due, or on their way."""
        ...

    async def backlog(self, before: datetime) -> Backlog:
        """What is still to tell though it could have been told before that time, but for news of the rate."""
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

    async def left_sending(self) -> tuple[Notification, ...]:
        """Rows that a crash has left in the middle of a request."""
        ...

    async def to_tell_in(self, chat_id: int) -> tuple[Notification, ...]:
        """What waits for its way to a chat, or is on it."""
        ...

    async def of_subject(self, subject: str) -> tuple[Notification, ...]:
        """All that was or is to be told of a subject, whatever became of it, in its order."""
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


class Recipients(Protocol):
    """Whom people have sent to before."""

    async def get(self, recipient_id: str) -> Recipient | None: ...
    async def of_person(self, person_id: int, *, limit: int = 100) -> tuple[Recipient, ...]:
        """The last used first."""
        ...

    async def save(self, recipient: Recipient) -> None:
        """Insert or replace."""
        ...

    async def delete(self, recipient_id: str) -> None: ...
    async def forget_unused(self, before: datetime) -> int:
        """Delete those last used before; how many they were."""
        ...


class Receipts(Protocol):
    """Receipts of orders that were sent."""

    async def add(self, receipt: Receipt) -> bool:
        """Keep it; False where the order has one, or another has this code."""
        ...

    async def of_order(self, reference: str) -> Receipt | None: ...
    async def by_code_hash(self, code_hash: str) -> Receipt | None: ...


class Transaction(Protocol):
    """The repositories within one transaction."""

    @property
    def people(self) -> People: ...
    @property
    def missed_orders(self) -> MissedOrders: ...
    @property
    def inbox(self) -> Inbox: ...
    @property
    def drafts(self) -> Drafts: ...
    @property
    def orders(self) -> Orders: ...
    @property
    def outbox(self) -> Outbox: ...
    @property
    def recipients(self) -> Recipients: ...
    @property
    def receipts(self) -> Receipts: ...
    @property
    def quotes(self) -> Quotes: ...
    @property
    def subscriptions(self) -> Subscriptions: ...
    @property
    def broadcasts(self) -> Broadcasts: ...
    @property
    def deliveries(self) -> Deliveries: ...
    @property
    def alarms(self) -> Alarms: ...
    @property
    def figures(self) -> Figures: ...
    @property
    def lookups(self) -> Lookups: ...
    @property
    def forgetting(self) -> Forgetting: ...
    @property
    def tickets(self) -> Tickets: ...
    @property
    def ticket_entries(self) -> TicketEntries: ...
    @property
    def ticket_posts(self) -> TicketPosts: ...
    @property
    def acts(self) -> Acts: ...
    @property
    def audit(self) -> Audit: ...
    @property
    def reveals(self) -> Reveals: ...
    @property
    def saved_answers(self) -> SavedReplies: ...


class Store(Protocol):
    """The database. What is written in one `transaction` is saved together or not at all."""

    def transaction(self) -> AbstractAsyncContextManager[Transaction]:
        """Commits at the end of the block, rolls back on any exception."""
        ...

    def reading(self) -> AbstractAsyncContextManager[Transaction]:
        """For reads only: takes no write lock."""
        ...

    def unreadable_rows(self) -> frozenset[str]:
        """Return the rows that can't be read, as "table key", since this process began."""
        ...

    async def erase(self) -> bool:
        """Let what was just deleted be gone from the database's files, too; False where that has to wait."""
        ...

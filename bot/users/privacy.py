"""What is kept of a person: seen, handed out, and deleted as they wish.

Whoever wishes to be forgotten while money is under way is forgotten as soon as it has arrived: the wish is kept with
the person, and carried out in their chat's own queue. Orders keep their skeleton, for the books and for support.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count

from bot.checkout.draft import OrderDraft
from bot.checkout.repository import DraftRepository
from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import Notification
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.missed_orders import MissedOrder
from bot.orders.missed_repository import MissedOrderRepository
from bot.orders.notifications import FAREWELL
from bot.orders.order import Order, OrderEvent
from bot.orders.receipts.model import Receipt
from bot.orders.receipts.repository import ReceiptRepository
from bot.orders.repository import OrderRepository
from bot.rates.model import RateAlert, Subscription
from bot.rates.subscription_repository import SubscriptionRepository
from bot.recipients.model import SavedRecipient
from bot.recipients.repository import RecipientRepository
from bot.settlement.steps import FAILED
from bot.support.model import EntryKind, TicketEntry
from bot.support.ticket import Ticket
from bot.support.tickets.deletion import forget
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.repository import TicketRepository
from bot.users.deletion import UserDataRepository
from bot.users.model import Person
from bot.users.repository import UserRepository

NOT_ENDED = 100
"""Orders not ended that are looked at: more than anybody may have open."""

PAGE = 500
KEEP_UPDATES = timedelta(hours=48)
"""Telegram keeps updates for 24 hours; an id older than twice that can't come again."""

KEEP_NEWS = timedelta(days=30)
KEEP_CLOSED_DRAFTS = timedelta(hours=48)
"""So long a draft that was put away may be taken up again, and its buttons still know what became of it."""

KEEP_LEDGERS = timedelta(days=30)
KEEP_NEVER_SHOWN = timedelta(days=90)
"""Orders that were refused or never shown: nothing was paid for them, and nothing will be."""

LEAVING_READ = 100
"""Who was sent which broadcast; after that its report tells how many."""


@dataclass(frozen=True, slots=True)
class UserData:
    """All that is kept of one person; orders newest first, with what was seen of them and their receipts."""

    person: Person
    recipients: tuple[SavedRecipient, ...]
    orders: tuple[Order, ...]
    events: Mapping[str, tuple[OrderEvent, ...]]
    receipts: Mapping[str, Receipt]
    drafts: tuple[OrderDraft, ...]
    subscription: Subscription | None = None
    alerts: tuple[RateAlert, ...] = ()
    missed: tuple[MissedOrder, ...] = ()
    tickets: tuple[Ticket, ...] = ()
    entries: Mapping[str, tuple[TicketEntry, ...]] = field(default_factory=dict)
    """What the person wrote in each ticket, and what they got; never what support notes for itself."""


@dataclass(frozen=True, slots=True)
class Waits:
    """What has to end before a person can be forgotten."""

    orders: tuple[Order, ...] = ()
    news: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing has."""
        return not self.orders and not self.news


class Privacy:
    """The use cases of `/privacy`. `retention_days` is 0 where nothing is deleted by itself."""

    def __init__(self, store: Database, clock: Clock, retention_days: int) -> None:
        self.retention_days = retention_days
        self._store = store
        self._clock = clock
        self._to_erase = False

    async def held(self, person: Person, *, whole: bool = True) -> UserData:
        """All that is kept of `person`; for a glance at it, without timelines and receipts."""
        async with self._store.reading() as tx:
            orders = await _all_orders(tx, person.id)
            read = orders if whole else ()
            events = {order.reference: await OrderRepository(tx).events(order.reference) for order in read}
            receipts = {order.reference: await ReceiptRepository(tx).of_order(order.reference) for order in read}
            tickets = await TicketRepository(tx).of_person(person.id, limit=100_000)
            entries = {each.reference: await _exchanged(tx, each) for each in (tickets if whole else ())}
            return UserData(
                person=await UserRepository(tx).get(person.id) or person,
                recipients=await RecipientRepository(tx).of_person(person.id, limit=100_000),
                orders=orders,
                events=events,
                receipts={reference: receipt for reference, receipt in receipts.items() if receipt is not None},
                drafts=await DraftRepository(tx).of_person(person.id),
                subscription=await SubscriptionRepository(tx).get(person.id),
                alerts=await SubscriptionRepository(tx).alerts_of(person.id),
                missed=await MissedOrderRepository(tx).of_person(person.id),
                tickets=tickets,
                entries=entries,
            )

    async def waits(self, person_id: int) -> Waits:
        """What would have to end first."""
        async with self._store.reading() as tx:
            return await _waits(tx, person_id)

    async def delete(self, person: Person) -> Waits:
        """Forget `person` now; where something has to end first, keep the wish, and say what that is.

        To be called in the person's own lane.
        """
        async with self._store.transaction() as tx:
            waits = await _waits(tx, person.id)
            if waits.is_over:
                await forget(tx, person.id, self._clock.now())
            else:
                wished_at = person.delete_asked_at or self._clock.now()
                await UserRepository(tx).save(replace(person, delete_asked_at=wished_at))
        if waits.is_over:
            await self._erase()
        return waits

    async def keep(self, person: Person) -> Person:
        """Take the wish back; the person without it."""
        kept = replace(person, delete_asked_at=None)
        async with self._store.transaction() as tx:
            await UserRepository(tx).save(kept)
        return kept

    async def is_unknown(self, person_id: int) -> bool:
        """Whether nothing but their having come is known of a person: as after a deletion."""
        async with self._store.reading() as tx:
            return not (
                await OrderRepository(tx).of_person(person_id, limit=1)
                or await RecipientRepository(tx).of_person(person_id, limit=1)
                or await DraftRepository(tx).of_person(person_id)
                or await SubscriptionRepository(tx).get(person_id)
                or await SubscriptionRepository(tx).alerts_of(person_id)
                or await TicketRepository(tx).of_person(person_id, limit=1)
            )

    async def ready(self) -> tuple[int, ...]:
        """The persons who wish to be forgotten, and for whom nothing has to end any more."""
        ready: list[int] = []
        async with self._store.reading() as tx:
            # All of them: a hundred who have to wait must not keep those behind them waiting, too.
            for skipped in count(0, LEAVING_READ):
                leaving = await UserDataRepository(tx).leaving(LEAVING_READ, skipped)
                ready += [person for person in leaving if await _may_leave(tx, person)]
                if len(leaving) < LEAVING_READ or len(ready) >= LEAVING_READ:
                    break
        return tuple(ready)

    async def carry_out(self, person_id: int) -> bool:
        """Forget somebody who wished it before, and leave them one last message; whether that was so.

        To be called in the person's own lane: nothing of theirs is half done there.
        """
        async with self._store.transaction() as tx:
            person = await UserRepository(tx).get(person_id)
            if person is None or person.delete_asked_at is None or not await _may_leave(tx, person_id):
                return False
            await forget(tx, person_id, self._clock.now())
            await OutboxRepository(tx).add([_farewell(person, self._clock.now())])
        await self._erase()
        return True

    async def long_away(self) -> tuple[int, ...]:
        """The persons who blocked the bot longer ago than anything is kept, and for whom nothing has to end."""
        if not self.retention_days:
            return ()
        before = self._clock.now() - timedelta(days=self.retention_days)
        async with self._store.reading() as tx:
            away = await UserDataRepository(tx).away(before)
            return tuple([person for person in away if await _may_leave(tx, person)])

    async def forget_away(self, person_id: int) -> bool:
        """Forget somebody who is long away, without a word: none would reach them."""
        async with self._store.transaction() as tx:
            person = await UserRepository(tx).get(person_id)
            if person is None or person.blocked_at is None or not await _may_leave(tx, person_id):
                return False
            await forget(tx, person_id, self._clock.now())
        await self._erase()
        return True

    async def tidy(self) -> None:
        """Delete farewells that were told, and erase what a reader was in the way of."""
        async with self._store.transaction() as tx:
            farewells = await UserDataRepository(tx).farewells()
        if farewells or self._to_erase:
            await self._erase()

    async def _erase(self) -> None:
        self._to_erase = not await self._store.erase()


async def _waits(tx: Transaction, person_id: int) -> Waits:
    return Waits(
        orders=await OrderRepository(tx).open_of_person(person_id, NOT_ENDED),
        news=await UserDataRepository(tx).has_news_to_tell(person_id),
    )


async def _may_leave(tx: Transaction, person_id: int) -> bool:
    """By themselves nobody is forgotten in the middle of a conversation: an open draft is finished, or lapses."""
    return (await _waits(tx, person_id)).is_over and not await DraftRepository(tx).has_open(person_id)


async def _exchanged(tx: Transaction, ticket: Ticket) -> tuple[TicketEntry, ...]:
    entries = await TicketEntryRepository(tx).of_ticket(ticket.reference)
    return tuple(entry for entry in entries if entry.kind is not EntryKind.NOTE)


async def _all_orders(tx: Transaction, person_id: int) -> tuple[Order, ...]:
    found: list[Order] = []
    while len(page := await OrderRepository(tx).of_person(person_id, limit=PAGE, offset=len(found))) == PAGE:
        found += page
    return (*found, *page)


def failed_after_payment(held: UserData) -> tuple[Order, ...]:
    """Orders that a person has to sort out with somebody: their payment came in, and nothing was sent."""
    return tuple(order for order in held.orders if order.is_paid and order.state == FAILED)


def _farewell(person: Person, now: datetime) -> Notification:
    """Told after the person's row is gone: it brings along what their language was."""
    return Notification(
        chat_id=person.id,
        subject=f"person:{person.id}",
        kind=FAREWELL,
        payload={"locale": person.locale, "language_code": person.language_code},
        due_at=now,
        created_at=now,
    )

"""A case: all that support sees of one matter, read together. Nothing in it is what a person wrote."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import NotificationStatus, StoredNotification
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.notifications.queueing import order_subject
from bot.orders.order import LOOKED_FOR, EventNote, Failure, Order, OrderEvent, Phase
from bot.orders.repository import OrderRepository
from bot.support.notifications.queueing import ticket_subject
from bot.support.ticket import Ticket
from bot.support.tickets.repository import TicketRepository
from bot.users.model import Person, RecordedEvent
from bot.users.repository import UserEventRepository, UserRepository

OTHERS = 6
"""Other orders and tickets of the person that are read: one more than is shown, to say that there are more."""

BLOCKED = ("blocked", "deactivated", "chat not found")
"""What Telegram's refusals say where the person can't be reached at all."""


class Anomaly(StrEnum):
    """What is unusual in a case, the worst first."""

    FAILED_PAID = "failed_paid"
    FAILED_UNKNOWN = "failed_unknown"  # a deposit of which nobody knows whether it arrived
    STUCK = "stuck"
    LATE = "late"  # paid after the invoice had expired
    REPLACED = "replaced"  # the service named another invoice later
    NOT_AGREED = "not_agreed"  # its invoice wasn't what was agreed, and was never shown
    PRICE_MOVED = "price_moved"
    UNKNOWN = "unknown"  # for a time nobody knew whether it was made
    REFUSED = "refused"
    UNTOLD = "untold"  # something that the person was to be told never reached them
    AWAY = "away"  # the person has blocked the bot
    FORGOTTEN = "forgotten"  # its recipient or its person has been deleted


class Reach(StrEnum):
    """What became of something that the person was to be told. Whether it was read, nobody knows."""

    SENT = "sent"
    NEEDLESS = "needless"  # overtaken, or left to the card
    WAITS = "waits"
    UNDER_WAY = "under_way"
    BLOCKED = "blocked"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An order with its person; without `order`, the person alone.

    `events`, `news` and `acts` are the order's, oldest first; `news` are those for the person, of its tickets too.
    `others` are the person's other orders that go on, `tickets` their open ones and those about the order.
    """

    person_id: int
    person: Person | None
    order: Order | None = None
    events: tuple[OrderEvent, ...] = ()
    news: tuple[StoredNotification, ...] = ()
    acts: tuple[RecordedEvent, ...] = ()
    others: tuple[Order, ...] = ()
    tickets: tuple[Ticket, ...] = ()

    @property
    def oddities(self) -> tuple[Anomaly, ...]:
        """What is unusual, the worst first."""
        found = {*_of_order(self), *_of_person(self)}
        return tuple(oddity for oddity in Anomaly if oddity in found)


class Cases:
    """Reads cases."""

    def __init__(self, store: Database) -> None:
        self._store = store

    async def of_order(self, order: Order) -> Case:
        """The case of an order as it is now."""
        async with self._store.reading() as tx:
            return await case_of(tx, order.person_id, order.reference)

    async def of_ticket(self, ticket: Ticket) -> Case:
        """The case that a ticket is about."""
        async with self._store.reading() as tx:
            return await case_of(tx, ticket.person_id, ticket.order_reference)


async def case_of(tx: Transaction, person_id: int, reference: str = "") -> Case:
    """The case of a person, and of their order where `reference` names one."""
    order = await OrderRepository(tx).get(reference) if reference else None
    tickets = await _tickets(tx, person_id, order)
    others = await OrderRepository(tx).open_of_person(person_id, OTHERS + 1) if person_id else ()
    return Case(
        person_id=person_id,
        person=await UserRepository(tx).get(person_id),
        order=order,
        events=await OrderRepository(tx).events(order.reference) if order else (),
        news=await _news(tx, person_id, order, tickets),
        acts=await _acts(tx, person_id, order),
        others=tuple(other for other in others if order is None or other.reference != order.reference)[:OTHERS],
        tickets=tickets,
    )


def reach_of(news: StoredNotification) -> Reach:
    """What became of a piece of news."""
    if news.status is NotificationStatus.TOLD:
        return Reach.NEEDLESS if news.message_id is None and not _edits(news) else Reach.SENT
    if news.status is NotificationStatus.UNDELIVERABLE:
        why = (news.failure or "").lower()
        return Reach.BLOCKED if any(word in why for word in BLOCKED) else Reach.FAILED
    return Reach.UNDER_WAY if news.status is NotificationStatus.SENDING else Reach.WAITS


def _edits(news: StoredNotification) -> bool:
    """Whether telling it changes a message, so that there is no new one to name."""
    return news.kind.endswith(("_edit", "_edited", "_withdrawn", "_down"))


async def _tickets(tx: Transaction, person_id: int, order: Order | None) -> tuple[Ticket, ...]:
    known = await TicketRepository(tx).of_person(person_id, limit=OTHERS) if person_id else ()
    about = await TicketRepository(tx).of_order(order.reference) if order else ()
    found = {ticket.reference: ticket for ticket in (*about, *known) if ticket.is_open or ticket in about}
    return tuple(sorted(found.values(), key=lambda ticket: (not ticket.is_open, ticket.created_at)))


async def _news(
    tx: Transaction, person_id: int, order: Order | None, tickets: Iterable[Ticket]
) -> tuple[StoredNotification, ...]:
    if order is None:
        return ()
    subjects = [
        order_subject(order),
        *(ticket_subject(ticket.reference) for ticket in tickets if _is_about(ticket, order)),
    ]
    found = [news for subject in subjects for news in await OutboxRepository(tx).of_subject(subject)]
    return tuple(sorted((news for news in found if news.chat_id == person_id), key=lambda news: news.id))


def _is_about(ticket: Ticket, order: Order) -> bool:
    return ticket.order_reference == order.reference


async def _acts(tx: Transaction, person_id: int, order: Order | None) -> tuple[RecordedEvent, ...]:
    if not person_id or order is None:
        return ()
    return await UserEventRepository(tx).of_order(person_id, order.reference, order.created_at)


def _of_order(case: Case) -> Iterator[Anomaly]:
    order = case.order
    if order is None:
        return
    notes, phases = {event.note for event in case.events}, {event.phase for event in case.events} | {order.phase}
    facts = {
        Anomaly.FAILED_PAID: order.failure is Failure.PAID,
        Anomaly.FAILED_UNKNOWN: order.failure is Failure.UNKNOWN,
        Anomaly.STUCK: order.is_overdue,
        Anomaly.LATE: order.is_paid and order.expiry_notified,
        Anomaly.REPLACED: EventNote.INVOICE_REPLACED in notes,
        Anomaly.NOT_AGREED: any(is_not_agreed(order, event) for event in case.events),
        Anomaly.PRICE_MOVED: Phase.NEEDS_CONFIRMATION in phases,
        Anomaly.UNKNOWN: not phases.isdisjoint(LOOKED_FOR - {Phase.INTENDED}),
        Anomaly.REFUSED: order.phase is Phase.REFUSED,
        Anomaly.UNTOLD: any(reach_of(news) in {Reach.BLOCKED, Reach.FAILED} for news in case.news),
        Anomaly.FORGOTTEN: not order.has_recipient,
    }
    yield from (oddity for oddity, holds in facts.items() if holds)


def is_not_agreed(order: Order, event: OrderEvent) -> bool:
    """Whether this is the moment in which the service's own order was found to be another than was agreed."""
    return event.phase is Phase.ABANDONED and not event.note and order.sats is not None


def _of_person(case: Case) -> Iterator[Anomaly]:
    if case.person is not None and case.person.blocked_at is not None:
        yield Anomaly.AWAY

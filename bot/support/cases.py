"""A case: all that support sees of an order and its user. It contains nothing that a user wrote.

What the user is filling in is a part of it, with the number masked.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bot.checkout.draft import OrderDraft
from bot.checkout.repository import DraftRepository
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import NotificationStatus, StoredNotification
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.messages import order_subject
from bot.orders.notifications import OrderNotification
from bot.orders.order import UNCERTAIN_PHASES, EventNote, Failure, Order, OrderEvent, Phase
from bot.orders.repository import OrderRepository
from bot.support.model import Ticket
from bot.support.notifications import TicketNotification, ticket_subject
from bot.support.repository import TicketRepository
from bot.users.model import RecordedEvent, User
from bot.users.repository import UserEventRepository, UserRepository

EDITS: Final = frozenset(
    {
        OrderNotification.EDIT_STATUS,
        OrderNotification.REMOVE_INVOICE,
        OrderNotification.REPLACE_QR_CODE,
        TicketNotification.REPLY_EDITED,
        TicketNotification.REPLY_WITHDRAWN,
    }
)
"""Notifications that edit or delete a message. They have no message of their own."""

MAX_OTHERS = 6
"""How many other orders and tickets are read: one more than is shown, so that the page can say that there are more."""

BLOCKED_ERRORS = ("blocked", "deactivated", "chat not found")
"""Parts of Telegram's errors for a user whom no message can reach."""


class Anomaly(StrEnum):
    """What is unusual in a case, the worst first."""

    FAILED_PAID = "failed_paid"
    FAILED_UNKNOWN = "failed_unknown"  # it isn't known whether its deposit arrived
    STUCK = "stuck"
    LATE = "late"  # paid after its invoice had expired
    REPLACED = "replaced"  # the service replaced its invoice
    NOT_AGREED = "not_agreed"  # its invoice wasn't as agreed, so it was never shown
    PRICE_MOVED = "price_moved"
    UNKNOWN = "unknown"  # for a while it wasn't known whether the service had created it
    REFUSED = "refused"
    NOT_SENT = "not_sent"  # a notification never reached the user
    BOT_BLOCKED = "away"  # the user has blocked the bot
    DELETED = "forgotten"  # its recipient or its user was deleted


class DeliveryState(StrEnum):
    """How far a notification has come. Telegram doesn't report whether the user has read it."""

    SENT = "sent"
    NOT_NEEDED = "needless"  # a later one replaced it, or the status message shows the same
    WAITS = "waits"
    SENDING = "under_way"
    BLOCKED = "blocked"
    FAILED = "failed"


UNDELIVERED = frozenset({DeliveryState.BLOCKED, DeliveryState.FAILED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An order with its user. If `order` is None, only the user.

    Attributes:
        events: what happened to the order, oldest first.
        notifications: what was sent to the user about the order and its tickets, oldest first.
        user_events: what the user did with the order, oldest first.
        others: the user's other open orders.
        tickets: the user's open tickets, and those about the order.
        draft: the order that the user is filling in, or could continue.
    """

    user_id: int
    user: User | None
    order: Order | None = None
    events: tuple[OrderEvent, ...] = ()
    notifications: tuple[StoredNotification, ...] = ()
    user_events: tuple[RecordedEvent, ...] = ()
    others: tuple[Order, ...] = ()
    tickets: tuple[Ticket, ...] = ()
    draft: OrderDraft | None = None

    @property
    def people(self) -> frozenset[int]:
        """The user, and the agents who hold the tickets, whose names the case shows."""
        return frozenset(filter(None, (self.user_id, *(ticket.claimed_by for ticket in self.tickets))))

    @property
    def anomalies(self) -> tuple[Anomaly, ...]:
        """What is unusual in the case, the worst first."""
        found = {*_order_anomalies(self), *_user_anomalies(self)}
        return tuple(anomaly for anomaly in Anomaly if anomaly in found)


async def order_of(tx: Transaction, ticket: Ticket | None) -> Order | None:
    """Return the order that a ticket is about. None if it is about none, or there is no ticket."""
    return await OrderRepository(tx).get(ticket.order_reference) if ticket and ticket.order_reference else None


async def read_case(tx: Transaction, user_id: int, reference: str = "") -> Case:
    """Return the case of a user and of their order. If `reference` is empty, the case has no order."""
    order = await OrderRepository(tx).get(reference) if reference else None
    tickets = await _tickets(tx, user_id, order)
    others = await OrderRepository(tx).open_of_user(user_id, MAX_OTHERS + 1) if user_id else ()
    return Case(
        user_id=user_id,
        user=await UserRepository(tx).get(user_id),
        order=order,
        events=await OrderRepository(tx).events(order.reference) if order else (),
        notifications=await _notifications(tx, user_id, order, tickets),
        user_events=await _user_events(tx, user_id, order),
        others=tuple(other for other in others if order is None or other.reference != order.reference)[:MAX_OTHERS],
        tickets=tickets,
        draft=await DraftRepository(tx).unfinished_of(user_id) if user_id else None,
    )


def get_delivery_state(notification: StoredNotification) -> DeliveryState:
    """Return how far a notification has come on its way to the user's chat."""
    if notification.status is NotificationStatus.SENT:
        has_message = notification.message_id is not None or notification.kind in EDITS
        return DeliveryState.SENT if has_message else DeliveryState.NOT_NEEDED
    if notification.status is NotificationStatus.UNDELIVERABLE:
        why = (notification.failure or "").lower()
        return DeliveryState.BLOCKED if any(word in why for word in BLOCKED_ERRORS) else DeliveryState.FAILED
    return DeliveryState.SENDING if notification.status is NotificationStatus.SENDING else DeliveryState.WAITS


async def _tickets(tx: Transaction, user_id: int, order: Order | None) -> tuple[Ticket, ...]:
    known = await TicketRepository(tx).of_user(user_id, limit=MAX_OTHERS) if user_id else ()
    about = await TicketRepository(tx).of_order(order.reference) if order else ()
    found = {ticket.reference: ticket for ticket in (*about, *known) if ticket.is_open or ticket in about}
    return tuple(sorted(found.values(), key=lambda ticket: (not ticket.is_open, ticket.created_at)))


async def _notifications(
    tx: Transaction, user_id: int, order: Order | None, tickets: Iterable[Ticket]
) -> tuple[StoredNotification, ...]:
    if order is None:
        return ()
    subjects = [
        order_subject(order),
        *(ticket_subject(ticket.reference) for ticket in tickets if ticket.order_reference == order.reference),
    ]
    found = [each for subject in subjects for each in await OutboxRepository(tx).find_by_subject(subject)]
    return tuple(sorted((each for each in found if each.chat_id == user_id), key=lambda each: each.id))


async def _user_events(tx: Transaction, user_id: int, order: Order | None) -> tuple[RecordedEvent, ...]:
    if not user_id or order is None:
        return ()
    return await UserEventRepository(tx).find_by_order(user_id, order.reference, order.created_at)


def _order_anomalies(case: Case) -> Iterator[Anomaly]:
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
        # The sender may have been asked only whether the order is theirs.
        Anomaly.PRICE_MOVED: Phase.NEEDS_CONFIRMATION in phases
        and (order.sats, order.idr) != (order.expected_sats, order.expected_idr),
        Anomaly.UNKNOWN: not phases.isdisjoint(UNCERTAIN_PHASES - {Phase.INTENDED}),
        Anomaly.REFUSED: order.phase is Phase.REFUSED,
        Anomaly.NOT_SENT: any(get_delivery_state(each) in UNDELIVERED for each in case.notifications),
        Anomaly.DELETED: not order.has_recipient,
    }
    yield from (anomaly for anomaly, holds in facts.items() if holds)


def is_not_agreed(order: Order, event: OrderEvent) -> bool:
    """Return whether the event records that the service's order isn't what was agreed."""
    return event.phase is Phase.ABANDONED and not event.note and order.sats is not None


def _user_anomalies(case: Case) -> Iterator[Anomaly]:
    if case.user is not None and case.user.blocked_at is not None:
        yield Anomaly.BOT_BLOCKED

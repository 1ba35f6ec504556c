"""Open tickets about paid orders that need help, and update the cards of tickets when their orders change.

A ticket that the bot opened and that nobody has touched closes itself when the rupiah were sent.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

import structlog

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import Queue, format_mark
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.order import Order, OrderProblem
from bot.settlement.steps import COMPLETED
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarm_repository import AlarmRepository
from bot.staff.staff_chat import StaffChat
from bot.support.notification_kinds import AboutTicket, StaffNotification, TicketNotification
from bot.support.notification_queue import notify_of_step, notify_staff, ticket_notification, update_card
from bot.support.ticket import Cause, Ticket
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.repository import TicketRepository

log = structlog.get_logger(__name__)

MAX_ATTEMPTS: Final = 3


CAUSE_OF: Final[Mapping[OrderProblem, Cause]] = {
    OrderProblem.OVERDUE: Cause.STUCK,
    OrderProblem.FAILED: Cause.FAILED,
}


class OrderTicketListener:
    """Listen to the events of orders (`Feature.order_listeners`)."""

    def __init__(self, staff_chat: StaffChat) -> None:
        self._staff_chat = staff_chat

    async def order_needs_staff(self, tx: Transaction, order: Order, problem: OrderProblem, now: datetime) -> None:
        """Open a ticket about the order, or add the problem to its open ticket."""
        await open_order_ticket(tx, self._staff_chat, order, CAUSE_OF[problem], now)

    async def order_changed(self, tx: Transaction, order: Order, now: datetime) -> None:
        """Update the cards of the open tickets about the order. If the rupiah were sent, close an untouched one."""
        for ticket in await TicketRepository(tx).of_order(order.reference):
            if ticket.is_open:
                if order.state == COMPLETED and await _is_untouched(tx, ticket):
                    await _close_itself(tx, ticket, now)
                await update_card(tx, self._staff_chat, ticket.reference, now, "order", order.version)


async def _is_untouched(tx: Transaction, ticket: Ticket) -> bool:
    """Return whether nobody has written, noted or claimed, and no operator has taken the alarm about the order."""
    alarm = (AlarmKind.ORDER_STUCK, ticket.order_reference)
    return (
        ticket.cause is Cause.STUCK
        and ticket.claimed_by is None
        and not await TicketEntryRepository(tx).of_ticket(ticket.reference)
        and any((each.kind, each.subject) == alarm for each in await AlarmRepository(tx).open())
    )


async def _close_itself(tx: Transaction, ticket: Ticket, now: datetime) -> None:
    """Close a ticket, and notify its user, unless somebody has changed it since it was read."""
    saved = await TicketRepository(tx).save(ticket.close_itself(now))
    if saved is not None:
        about, mark = AboutTicket(saved.reference), format_mark(saved.version)
        notification = ticket_notification(saved.user_id, TicketNotification.CLOSED, about, now, mark)
        # In the queue of the message that the rupiah were sent, so that it comes after it.
        await OutboxRepository(tx).add([replace(notification, queue=Queue.URGENT)])


async def open_order_ticket(tx: Transaction, staff_chat: StaffChat, order: Order, cause: Cause, now: datetime) -> None:
    """Open a ticket about a paid order with a problem, or add the problem to its open ticket.

    The message about the problem says so to the user.

    Call it in the transaction that saves the problem. It does nothing if there is no support agent, or if the payer has
    no chat in which a ticket could be answered. Operators have an alarm about the order in any case.
    """
    if not staff_chat.is_open or not order.payer.has_chat:
        return
    for _ in range(MAX_ATTEMPTS):
        known = await TicketRepository(tx).open_of(order.user_id, order.reference)
        if known is not None:
            if await _add_cause(tx, staff_chat, known, cause, now):
                return
            continue
        ticket = Ticket.open(order.user_id, now, order_reference=order.reference, cause=cause)
        if await TicketRepository(tx).add(ticket):
            await notify_staff(tx, staff_chat, StaffNotification.NEW_CARD, AboutTicket(ticket.reference), now)
            return
    log.error("ticket_not_opened", cause=str(cause))


async def _add_cause(tx: Transaction, staff_chat: StaffChat, ticket: Ticket, cause: Cause, now: datetime) -> bool:
    """Add a problem to an open ticket. Return False if the ticket has changed since it was read.

    A ticket that its user opened keeps its cause. Otherwise the newest problem becomes the cause.
    """
    after = ticket if ticket.cause is Cause.ASKED else replace(ticket, cause=cause)
    saved = await TicketRepository(tx).save(after.add_message(now))
    if saved is None:
        return False
    await update_card(tx, staff_chat, saved.reference, now, saved.version)
    await notify_of_step(tx, staff_chat, saved, str(cause), now)
    return True

"""Open tickets about paid orders that need help, and update the cards of tickets when their orders change."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

import structlog

from bot.infra.db.transaction import Transaction
from bot.orders.events import OrderProblem
from bot.orders.order import Order
from bot.staff.staff_chat import StaffChat
from bot.support.notification_kinds import AboutTicket, StaffNotification
from bot.support.notification_queue import notify_of_step, notify_staff, update_card
from bot.support.ticket import Cause, Ticket
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
        """Update the cards of the open tickets about the order."""
        for ticket in await TicketRepository(tx).of_order(order.reference):
            if ticket.is_open:
                await update_card(tx, self._staff_chat, ticket.reference, now, "order", order.version)


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

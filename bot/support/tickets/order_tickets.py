"""Tickets that the bot opens: about paid orders that failed or take too long."""

from dataclasses import replace
from datetime import datetime
from typing import Final

import structlog

from bot.infra.db.transaction import Transaction
from bot.orders.order import Order
from bot.staff.roles import StaffChat
from bot.support.ticket import Cause, Ticket
from bot.support.tickets.notifications import ToStaffChat, ToUser, marked, tell_person, tell_room, tell_step
from bot.support.tickets.repository import TicketRepository

log = structlog.get_logger(__name__)

TRIES: Final = 3


async def open_order_ticket(tx: Transaction, staff_chat: StaffChat, order: Order, cause: Cause, now: datetime) -> None:
    """Open a ticket about a paid order that went wrong, or add that to the ticket that is open about it.

    Call it in the transaction that saves what went wrong. It does nothing where there is no support agent.
    """
    if not staff_chat.is_open:
        return
    for _ in range(TRIES):
        known = await TicketRepository(tx).open_of(order.person_id, order.reference)
        if known is not None:
            if await _add_cause(tx, staff_chat, known, cause, now):
                return
            continue
        ticket = Ticket.open(order.person_id, now, order_reference=order.reference, cause=cause)
        if await TicketRepository(tx).add(ticket):
            await tell_room(tx, staff_chat, ticket, ToStaffChat.HEAD, now)
            await tell_person(tx, ticket, ToUser.OPENED, now)
            return
    log.error("ticket_not_opened", order=order.reference, cause=str(cause))


async def _add_cause(tx: Transaction, staff_chat: StaffChat, ticket: Ticket, cause: Cause, now: datetime) -> bool:
    """Add what went wrong to an open ticket; return False if the ticket has changed meanwhile.

    A ticket that its user has opened keeps that cause. An order that takes too long and then fails has failed.
    """
    after = ticket if ticket.cause is Cause.ASKED else replace(ticket, cause=cause)
    saved = await TicketRepository(tx).save(after.add_message(now))
    if saved is None:
        return False
    await tell_room(tx, staff_chat, saved, marked(ToStaffChat.CARD, saved.version), now)
    await tell_step(tx, staff_chat, saved, str(cause), now)
    return True

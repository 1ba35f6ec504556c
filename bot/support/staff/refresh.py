"""The button that reads a ticket's order afresh from the service, and shows what that has changed."""

import asyncio
from datetime import tzinfo
from typing import Final

from bot.core.zones import PRESUMED
from bot.infra.telegram.ui.screen import Screen
from bot.orders.notifications import subject_of
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.settlement.model import OrderReport, Settlement, SettlementFailure, SlowDown
from bot.staff.model import AuditAction, AuditEntry
from bot.staff.repository import AuditRepository
from bot.support.staff.screens.refresh import differences
from bot.support.staff.session import StaffSession
from bot.support.staff.topics import Reading
from bot.support.ticket import Ticket
from bot.support.tickets.repository import TicketRepository

LONGEST_WAIT: Final = 2.0
"""Seconds that somebody who has pressed the button waits for the service to allow the read."""


async def fresh(staff: StaffSession, ticket: Ticket, _: str) -> None:
    """Ask the service, take in what it says, and show the difference; whoever asked is written down."""
    desk = staff.desk
    async with desk.store.reading() as tx:
        order = await OrderRepository(tx).get(ticket.order_reference) if ticket.order_reference else None
    if order is None or order.service_id is None:
        await staff.toast("staff_ticket.nothing_to_read", alert=True)
        return
    await staff.toast("staff_ticket.reading")
    await _write_down(staff, ticket, order)
    asked_at = desk.clock.now()
    try:
        report = await _read(desk.settlement, order.service_id)
    except SettlementFailure:
        await staff.say(Screen(staff.t("staff_ticket.unreadable", at=_time(staff))))
        return
    after = await desk.observer.observe(order.reference, report, asked_at=asked_at) or order
    desk.orders.on_news()
    await _show(staff, ticket)
    said = differences(staff.t, order, after, report)
    heading = "staff_ticket.has_changed" if said else "staff_ticket.unchanged"
    # A message of its own: on the card the next news would write over it, perhaps within the same second.
    await staff.say(Screen("\n".join([staff.t(heading, at=_time(staff)), *said])))


async def _read(service: Settlement, service_id: str) -> OrderReport:
    """Read an order, once more where the service asks to wait a moment first.

    It lets each order be read once a second (settlement API, 6.3), and another agent or the poller may just have.

    Raises:
        SettlementFailure: it can't be read now.
    """
    try:
        return await service.look_up(service_id)
    except SlowDown as limited:
        await asyncio.sleep(min(limited.retry_after or LONGEST_WAIT, LONGEST_WAIT))
        return await service.look_up(service_id)


async def _show(staff: StaffSession, ticket: Ticket) -> None:
    """The card as it is now, in the place of the pressed one."""
    async with staff.desk.store.reading() as tx:
        current = await TicketRepository(tx).get(ticket.reference) or ticket
    reading = Reading(staff.chat_id, staff.t, _zone(staff))
    await staff.update(await staff.desk.ticket_room.card(reading, current))


def _zone(staff: StaffSession) -> tzinfo:
    return staff.person.zone if staff.is_private else PRESUMED


def _time(staff: StaffSession) -> str:
    return staff.t.seconds(staff.desk.clock.now(), _zone(staff))


async def _write_down(staff: StaffSession, ticket: Ticket, order: Order) -> None:
    entry = AuditEntry(
        at=staff.desk.clock.now(),
        actor_id=staff.person.id,
        action=AuditAction.LOOKED,
        subject=subject_of(order),
        person_id=ticket.person_id,
    )
    async with staff.desk.store.transaction() as tx:
        await AuditRepository(tx).add(entry)

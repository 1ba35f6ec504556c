"""Read a ticket's order from the service at once, and show what has changed."""

import asyncio
from datetime import tzinfo
from typing import Final

from bot.core.zones import PRESUMED
from bot.infra.feature import Infra
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.orders.notification_queue import order_subject
from bot.orders.repository import OrderRepository
from bot.orders.tracking.observer import Observer
from bot.settlement.model import OrderReport, Settlement, SettlementFailure, SlowDown
from bot.staff.audit import record_audit
from bot.staff.model import AuditAction
from bot.support.notifications.screens import card as card_screens
from bot.support.notifications.topics import TicketTopics
from bot.support.staff.session import StaffSession
from bot.support.ticket import Ticket
from bot.support.tickets.repository import TicketRepository

LONGEST_WAIT: Final = 2.0
"""Longest pause before the second read, in seconds."""


class OrderRefresh:
    """Refresh the order of a ticket for a support agent. The audit log records the agent."""

    def __init__(self, infra: Infra, *, settlement: Settlement, observer: Observer, topics: TicketTopics) -> None:
        self._database = infra.database
        self._settlement = settlement
        self._observer = observer
        self._topics = topics

    async def refresh(self, staff: StaffSession, ticket: Ticket) -> None:
        """Read the order from the service, save it, and show the difference."""
        async with self._database.reading() as tx:
            order = await OrderRepository(tx).get(ticket.order_reference) if ticket.order_reference else None
        if order is None or order.service_id is None:
            await staff.toast("support.staff_ticket.nothing_to_read", alert=True)
            return
        await staff.toast("support.staff_ticket.reading")
        agent, subject, user = staff.user.id, order_subject(order), ticket.user_id
        async with self._database.transaction() as tx:
            await record_audit(tx, agent, AuditAction.LOOKED, subject, staff.now, user_id=user)
        asked_at = staff.now
        try:
            report = await self._read(order.service_id)
        except SettlementFailure:
            await staff.say(Screen(staff.t("support.staff_ticket.unreadable", at=_time(staff))))
            return
        after = await self._observer.apply_report(order.reference, report, asked_at=asked_at) or order
        await self._show(staff, ticket)
        lines = card_screens.format_differences(staff.t, order, after, report)
        heading = "support.staff_ticket.has_changed" if lines else "support.staff_ticket.unchanged"
        # Send it as a new message, since the next update of the card would replace it within a second.
        await staff.say(Screen("\n".join([staff.t(heading, at=_time(staff)), *lines])))

    async def _read(self, service_id: str) -> OrderReport:
        """Read an order. If the service asks to wait, wait and read again.

        The service allows one read of an order a second (settlement API, 6.3). The poller may have used it.

        Raises:
            SettlementFailure: the order can't be read now.
        """
        try:
            return await self._settlement.look_up(service_id)
        except SlowDown as limited:
            await asyncio.sleep(min(limited.retry_after or LONGEST_WAIT, LONGEST_WAIT))
            return await self._settlement.look_up(service_id)

    async def _show(self, staff: StaffSession, ticket: Ticket) -> None:
        """Show the ticket as it is now, in place of the pressed message."""
        async with self._database.reading() as tx:
            current = await TicketRepository(tx).get(ticket.reference) or ticket
        reader = Reader(staff.t, _zone(staff), staff.now)
        await staff.edit_message(await self._topics.render_card(reader, current, has_topic=staff.topic_id is not None))


def _zone(staff: StaffSession) -> tzinfo:
    return staff.user.zone if staff.is_private else PRESUMED


def _time(staff: StaffSession) -> str:
    return staff.t.seconds(staff.now, _zone(staff))

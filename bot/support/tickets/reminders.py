"""Remind support, and then operators, of tickets that wait for a reply.

Support is reminded after `remind_after`, and operators as long after that. Each is reminded once in a wait.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.workers import run_each
from bot.staff.staff_chat import StaffChat
from bot.support.notification_kinds import StaffNotification, TicketWait
from bot.support.notification_queue import notify_chats
from bot.support.ticket import Ticket
from bot.support.tickets.repository import TicketRepository
from bot.support.tickets.service import TicketService

SECONDS_BETWEEN: Final = 3.0


class Reminder(StrEnum):
    """Who is reminded."""

    SUPPORT = "support"
    OPERATORS = "operators"


KINDS = {Reminder.SUPPORT: StaffNotification.WAITS, Reminder.OPERATORS: StaffNotification.WAITS_LONG}


def due_reminder(ticket: Ticket, now: datetime, remind_after: timedelta) -> Reminder | None:
    """Return who has to be reminded of the ticket now, or None."""
    if not ticket.is_open or ticket.waiting_since is None or now < ticket.waiting_since + remind_after:
        return None
    if ticket.reminded_at is None:
        return Reminder.SUPPORT
    is_due = ticket.escalated_at is None and now >= ticket.reminded_at + remind_after
    return Reminder.OPERATORS if is_due else None


def record_reminder(ticket: Ticket, reminder: Reminder, now: datetime) -> Ticket:
    """Return the ticket after a reminder."""
    return replace(ticket, reminded_at=now) if reminder is Reminder.SUPPORT else replace(ticket, escalated_at=now)


class TicketReminderService(TicketService):
    """Remind of tickets. `remind_after` is how long a ticket waits before support is reminded."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        staff_chat: StaffChat,
        *,
        operator_ids: frozenset[int],
        remind_after: timedelta,
    ) -> None:
        super().__init__(database, clock, staff_chat)
        self._operators = operator_ids
        self._remind_after = remind_after

    async def tick(self) -> float:
        """Remind of what is due, and return the seconds until the next call."""
        await self.remind()
        return SECONDS_BETWEEN

    async def remind(self) -> int:
        """Remind of every ticket that has waited too long, and return how many there were."""
        now = self._clock.now()
        async with self._database.reading() as tx:
            waiting = await TicketRepository(tx).waiting(now - self._remind_after)
        due = [ticket.reference for ticket in waiting if due_reminder(ticket, now, self._remind_after)]
        return sum(await run_each("tickets", due, lambda reference: self._change(reference, self._remind)))

    async def _remind(self, tx: Transaction, ticket: Ticket, now: datetime) -> bool:
        """Queue the reminder and save its time, unless an agent has replied since."""
        reminder = due_reminder(ticket, now, self._remind_after)
        if reminder is None or ticket.waiting_since is None:
            return False
        saved = await self._save(tx, ticket, record_reminder(ticket, reminder, now), now)
        is_first = reminder is Reminder.SUPPORT
        chats = await self._staff_chat.chats(tx) if is_first else tuple(sorted(self._operators))
        # A ticket can wait several times, so the start of the wait is the mark.
        mark = f"{ticket.waiting_since:%Y%m%dT%H%M%S%f}"
        await notify_chats(
            tx, chats, KINDS[reminder], TicketWait(saved.reference, ticket.waiting_since), now, mark=mark
        )
        return True

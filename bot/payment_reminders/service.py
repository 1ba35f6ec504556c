"""Set, answer and end payment reminders, and queue those that are due.

A reminder and its next time are saved in one transaction, so none is sent twice. One that is late is sent on the same
day, until the user's quiet hours begin. Otherwise it is skipped.
"""

from datetime import datetime
from typing import Final

from bot.core.zones import PRESUMED
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.workers import run_each
from bot.payment_reminders.model import (
    MAX_REMINDERS,
    MAX_UNANSWERED,
    PaymentReminder,
    find_next_due,
    find_sending_time,
    form_id,
)
from bot.payment_reminders.notifications import read_quiet_hours, reminder_notification
from bot.payment_reminders.repository import ReminderRepository
from bot.recipients.model import SavedRecipient
from bot.users.model import User
from bot.users.repository import UserRepository

AT_ONCE: Final = 24
"""How many are queued in a round. With more, bulk would only wait."""

EVERY_SECONDS: Final = 5.0
SOON_SECONDS: Final = 1.0


class ReminderService:
    """Change the reminders of one user, in the queue of their chat. They are due from `hour` o'clock on."""

    def __init__(self, infra: Infra, hour: int) -> None:
        self._infra = infra
        self._hour = hour

    async def find_by_user(self, user_id: int) -> tuple[PaymentReminder, ...]:
        """Return the reminders of a user, oldest first."""
        async with self._infra.database.reading() as tx:
            return await ReminderRepository(tx).find_by_user(user_id)

    async def add(self, user: User, recipient: SavedRecipient, idr: int, day: str) -> PaymentReminder | None:
        """Save a reminder, in place of that of this recipient and day. Return None if the user has too many."""
        now, reminder_id = self._infra.clock.now(), form_id(user.id, recipient.id, day)
        due_at = find_next_due(reminder_id, day, self._hour, user.zone, now)
        reminder = PaymentReminder(
            id=reminder_id, user_id=user.id, recipient_id=recipient.id, idr=idr, day=day, due_at=due_at, created_at=now
        )
        async with self._infra.database.transaction() as tx:
            known = [each.id for each in await ReminderRepository(tx).find_by_user(user.id)]
            if len(known) >= MAX_REMINDERS and reminder_id not in known:
                return None
            await ReminderRepository(tx).save(reminder)
        return reminder

    async def answer(self, user_id: int, reminder_id: str, *, stop: bool) -> PaymentReminder | None:
        """Save that the user has answered, or end the reminder. Return None if it has ended, or is another user's."""
        async with self._infra.database.transaction() as tx:
            reminder = await ReminderRepository(tx).get(reminder_id)
            if reminder is None or reminder.user_id != user_id:
                return None
            if stop:
                await ReminderRepository(tx).delete(reminder_id)
            else:
                await ReminderRepository(tx).move(reminder, reminder.due_at, unanswered=0)
        return reminder

    async def move_to_zone(self, tx: Transaction, user: User) -> None:
        """Move the user's reminders to the same hour in their new time zone."""
        for each in await ReminderRepository(tx).find_by_user(user.id):
            due_at = find_next_due(each.id, each.day, self._hour, user.zone, self._infra.clock.now())
            await ReminderRepository(tx).move(each, due_at, each.unanswered)

    async def queue_due(self) -> float:
        """Queue the reminders that are due, and return the seconds until the next call."""
        async with self._infra.database.reading() as tx:
            due = await ReminderRepository(tx).find_due(self._infra.clock.now(), AT_ONCE)
        await run_each("payment-reminders", due, self._queue)
        if due:
            self._infra.wake_bulk()
        return SOON_SECONDS if len(due) == AT_ONCE else EVERY_SECONDS

    async def _queue(self, due: PaymentReminder) -> None:
        """Queue a reminder, unless it is too late, waits for the end of quiet hours, or nobody answers it."""
        now = self._infra.clock.now()
        async with self._infra.database.transaction() as tx:
            reminders = ReminderRepository(tx)
            user = await UserRepository(tx).get_if_readable(due.user_id)
            zone = user.zone if user is not None else PRESUMED
            at = find_sending_time(due.due_at, now, zone, await read_quiet_hours(tx, due.user_id))
            following = find_next_due(due.id, due.day, self._hour, zone, now)
            if at != now:
                await reminders.move(due, at or following, due.unanswered)
            elif due.unanswered >= MAX_UNANSWERED:
                await reminders.delete_unanswered(due)
            elif await reminders.move(due, following, due.unanswered + 1):
                today = now.astimezone(zone).date().isoformat()
                await OutboxRepository(tx).add([reminder_notification(due, today, now)])


async def end_reminders(tx: Transaction, chat_id: int, now: datetime) -> None:
    """End the reminders of a user who can't be reached."""
    del now
    await ReminderRepository(tx).delete_of_user(chat_id)

"""Read and write payment reminders."""

from datetime import datetime

from sqlalchemy import ColumnElement, delete, select, update

from bot.infra.db.repository import Repository
from bot.payment_reminders.model import PaymentReminder
from bot.payment_reminders.tables import payment_reminders

_columns = payment_reminders.c


class ReminderRepository(Repository[PaymentReminder]):
    """Read and write payment reminders."""

    table, kind = payment_reminders, PaymentReminder

    async def get(self, reminder_id: str) -> PaymentReminder | None:
        """Return the reminder with this id, of any user, or None."""
        return await self._get(select(payment_reminders).where(_columns.id == reminder_id))

    async def find_by_user(self, user_id: int) -> tuple[PaymentReminder, ...]:
        """Return the reminders of a user, oldest first."""
        of_user = select(payment_reminders).where(_columns.user_id == user_id)
        return await self._find(of_user.order_by(_columns.created_at, _columns.id))

    async def find_due(self, now: datetime, limit: int) -> tuple[PaymentReminder, ...]:
        """Return the reminders that are due, the earliest first."""
        due = select(payment_reminders).where(_columns.due_at <= now)
        return await self._find(due.order_by(_columns.due_at).limit(limit))

    async def save(self, reminder: PaymentReminder) -> None:
        """Insert or replace a reminder."""
        await self._replace(reminder)

    async def move(self, reminder: PaymentReminder, due_at: datetime, unanswered: int) -> bool:
        """Save when a reminder is due next. Return False if it was answered or set again since it was read."""
        known = update(payment_reminders).where(*_is_as_read(reminder))
        return await self._change(known.values(due_at=due_at, unanswered=unanswered)) == 1

    async def delete(self, reminder_id: str) -> None:
        """Delete a reminder."""
        await self._change(delete(payment_reminders).where(_columns.id == reminder_id))

    async def delete_unanswered(self, reminder: PaymentReminder) -> None:
        """Delete a reminder, unless it was answered or set again since it was read."""
        await self._change(delete(payment_reminders).where(*_is_as_read(reminder)))

    async def delete_of_user(self, user_id: int) -> None:
        """Delete all reminders of a user."""
        await self._change(delete(payment_reminders).where(_columns.user_id == user_id))


def _is_as_read(reminder: PaymentReminder) -> tuple[ColumnElement[bool], ...]:
    return (
        _columns.id == reminder.id,
        _columns.due_at == reminder.due_at,
        _columns.unanswered == reminder.unanswered,
    )

"""The message of a payment reminder. It has the reminder's id alone, and reads the rest when it is sent."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.core.time_of_day import DEFAULT_QUIET_HOURS
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import Notification, NotificationKind, Queue, format_subject
from bot.infra.telegram.ui.screen import Screen
from bot.payment_reminders import screens
from bot.payment_reminders.model import PaymentReminder, QuietHours, find_sending_time
from bot.payment_reminders.repository import ReminderRepository
from bot.rates.repository import SubscriptionRepository
from bot.recipients.repository import RecipientRepository
from bot.users.readers import RenderContext, Renderer, as_message


@dataclass(frozen=True, slots=True)
class ReminderPayload:
    """A reminder by its id, and when it was due."""

    reminder: str
    due_at: datetime


class ReminderNotification(NotificationKind):
    """Notifications of payment reminders. Messages about money in the same chat don't wait for these."""

    DUE = "payment_reminder", ReminderPayload, Queue.BULK


def reminder_notification(reminder: PaymentReminder, today: str, now: datetime) -> Notification[ReminderPayload]:
    """Return the notification that a reminder is due. There is one for each day of the user (`today`)."""
    payload = ReminderPayload(reminder.id, reminder.due_at)
    subject = format_subject("payment_reminder", reminder.id)
    return ReminderNotification.DUE.create(reminder.user_id, subject, payload, now, today)


async def read_quiet_hours(tx: Transaction, user_id: int) -> QuietHours:
    """Return the user's quiet hours: those of their rate updates, else the usual ones."""
    subscription = await SubscriptionRepository(tx).get(user_id)
    return DEFAULT_QUIET_HOURS if subscription is None else (subscription.quiet_from, subscription.quiet_until)


async def show_due(notification: Notification[ReminderPayload], context: RenderContext) -> Screen | None:
    """Return the reminder, unless it or its day is over, or the user's quiet hours have begun."""
    user, due_at = context.user, notification.payload.due_at
    if user is None or user.deletion_requested_at is not None:
        return None
    async with context.database.reading() as tx:
        reminder = await ReminderRepository(tx).get(notification.payload.reminder)
        recipient = await RecipientRepository(tx).get(reminder.recipient_id) if reminder is not None else None
        quiet = await read_quiet_hours(tx, user.id)
    is_late = find_sending_time(due_at, context.now, context.zone, quiet) != context.now
    if reminder is None or recipient is None or recipient.user_id != user.id or is_late:
        return None
    return screens.show_due(context.reader, recipient, reminder)


RENDERERS: Final[Mapping[NotificationKind, Renderer]] = {
    ReminderNotification.DUE: as_message(show_due, priority="bulk"),
}

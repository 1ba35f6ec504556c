"""What follows a notification for the chat of staff: its message is saved, or it goes elsewhere.

A group that can't be written to loses nothing: its notifications go to each support agent's private chat, and
operators get an alarm.
"""

from collections.abc import Mapping
from datetime import datetime

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.delivery import After
from bot.infra.outbox.model import Notification, NotificationKind, Sent, Undeliverable
from bot.infra.outbox.repository import OutboxRepository
from bot.staff.alarm_model import Alarm, AlarmKind
from bot.staff.alarms import clear_alarm, raise_alarm
from bot.staff.chat_repository import MovedChatRepository
from bot.staff.roles import StaffChat
from bot.support.model import PostRole
from bot.support.notifications.kinds import AboutTicket, StaffNotification, TicketNotification, UserEntry
from bot.support.notifications.queueing import update_card
from bot.support.tickets.post_repository import TicketPostRepository
from bot.support.tickets.posting import keep_post
from bot.support.tickets.repository import TicketRepository

End = Sent | Undeliverable
ON_THE_CARD = (TicketNotification.OPENED, TicketNotification.CLOSED)


class RoomHooks:
    """The `after` of notifications for the chat of staff."""

    def __init__(self, room: StaffChat, operator_ids: frozenset[int]) -> None:
        self._room = room
        self._operators = operator_ids

    def around(self, others: Mapping[NotificationKind, After]) -> Mapping[NotificationKind, After]:
        """Return those of `others`, with what follows each kind of notification for the chat of staff."""
        own: dict[NotificationKind, After] = {
            StaffNotification.ENTRY: _keep_entry,
            StaffNotification.EDITED: _keep_entry,
        }
        of_room: dict[NotificationKind, After] = {
            kind: self._with_room(others.get(kind) or own.get(kind)) for kind in StaffNotification
        }
        return {**others, **of_room, **{kind: self._with_card(others.get(kind)) for kind in ON_THE_CARD}}

    def _with_card(self, then: After | None) -> After:
        """Show on the ticket's card what the user was notified of, and whether it was sent."""

        async def after(tx: Transaction, notification: Notification[AboutTicket], how: End, now: datetime) -> None:
            if then is not None:
                await then(tx, notification, how, now)
            ticket = await TicketRepository(tx).get(notification.payload.ticket)
            if ticket is not None:
                await update_card(tx, self._room, ticket.reference, now, ticket.version, notification.id)

        return after

    def _with_room(self, then: After | None) -> After:
        async def after(tx: Transaction, notification: Notification[AboutTicket], how: End, now: datetime) -> None:
            if then is not None:
                await then(tx, notification, how, now)
            if notification.chat_id == await self._room.group(tx):
                await self._of_group(tx, notification, how, now)

        return after

    async def _of_group(
        self, tx: Transaction, notification: Notification[AboutTicket], how: End, now: datetime
    ) -> None:
        if isinstance(how, Sent):
            if how.message_id is not None:
                await clear_alarm(tx, AlarmKind.ROOM_LOST, "", now, self._operators)
            return
        await OutboxRepository(tx).add(
            [_for(supporter, notification, now) for supporter in sorted(self._room.supporters)]
        )
        if how.whole_chat:
            await raise_alarm(tx, Alarm(kind=AlarmKind.ROOM_LOST, raised_at=now), self._operators)


def _for(supporter: int, notification: Notification[AboutTicket], now: datetime) -> Notification[AboutTicket]:
    return Notification(
        chat_id=supporter,
        subject=notification.subject,
        kind=notification.kind,
        mark=notification.mark,
        queue=notification.queue,
        payload=notification.payload,
        due_at=now,
        created_at=now,
    )


async def _keep_entry(tx: Transaction, notification: Notification[UserEntry], how: End, now: datetime) -> None:
    """An answer to what the user wrote is an answer to the user."""
    await keep_post(tx, notification, how, now, PostRole.ENTRY)


async def save_moved_chat(tx: Transaction, old: int, new: int) -> None:
    """Remember that Telegram gave the staff's group another id (a hook of the outbox)."""
    await MovedChatRepository(tx).save(old, new)
    await TicketPostRepository(tx).delete_in_chat(old)

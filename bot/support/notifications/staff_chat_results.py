"""Handle the results of notifications: update cards, and redirect what the staff's group didn't get.

If the bot can't write to the group, its notifications go to each agent's private chat, and operators get an alarm.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.follow_ups import FinalResult, FollowUp
from bot.infra.outbox.model import Notification, NotificationKind, NotificationStatus, Sent
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.notification_kinds import AboutOrder, OrderNotification
from bot.staff.alarm_model import Alarm, AlarmKind
from bot.staff.alarms import clear_alarm, raise_alarm
from bot.staff.repository import MovedChatRepository
from bot.staff.staff_chat import StaffChat
from bot.support.notification_kinds import AboutTicket, StaffNotification, TicketNotification
from bot.support.notification_queue import update_card
from bot.support.tickets.bot_message_repository import BotMessageRepository
from bot.support.tickets.repository import TicketRepository


class StaffChatResults:
    """Update cards, and redirect what the staff's group didn't get."""

    def __init__(self, staff_chat: StaffChat, operator_ids: frozenset[int]) -> None:
        self._staff_chat = staff_chat
        self._operators = operator_ids

    def follow_ups(self) -> Mapping[NotificationKind, FollowUp]:
        """Return what follows for each kind of notification."""
        return {
            **dict.fromkeys(StaffNotification, self._check_group),
            TicketNotification.CLOSED: self._update_card,
            OrderNotification.FAILED: self._update_card_of_order,
            OrderNotification.STUCK: self._update_card_of_order,
        }

    async def _update_card(
        self, tx: Transaction, notification: Notification[AboutTicket], _: FinalResult, now: datetime
    ) -> None:
        """Update the card, whose timeline shows the user's notifications."""
        ticket = await TicketRepository(tx).get(notification.payload.ticket)
        if ticket is not None:
            await update_card(tx, self._staff_chat, ticket.reference, now, ticket.version, notification.id)

    async def _update_card_of_order(
        self, tx: Transaction, notification: Notification[AboutOrder], _: FinalResult, now: datetime
    ) -> None:
        """Update the card of the order's open ticket: the message about the problem is also about the ticket."""
        ticket = await TicketRepository(tx).open_of(notification.chat_id, notification.payload.reference)
        if ticket is not None:
            await update_card(tx, self._staff_chat, ticket.reference, now, ticket.version, notification.id)

    async def _check_group(
        self, tx: Transaction, notification: Notification[AboutTicket], result: FinalResult, now: datetime
    ) -> None:
        """Send each agent what the group didn't get. Raise the alarm if the group is lost, and clear it afterwards."""
        if notification.chat_id != await self._staff_chat.group(tx):
            return
        if isinstance(result, Sent):
            if result.message_id is not None:
                await clear_alarm(tx, AlarmKind.STAFF_CHAT_LOST, "", now, self._operators)
            return
        agents = sorted(self._staff_chat.agent_ids)
        await OutboxRepository(tx).add([_copy_for(agent, notification, now) for agent in agents])
        if result.whole_chat:
            await raise_alarm(tx, Alarm(kind=AlarmKind.STAFF_CHAT_LOST, raised_at=now), self._operators)


def _copy_for(agent: int, notification: Notification[AboutTicket], now: datetime) -> Notification[AboutTicket]:
    new = replace(notification, status=NotificationStatus.WAITING, attempts=0, maybe_sent=False)
    return replace(new, chat_id=agent, due_at=now, created_at=now)


async def save_moved_chat(tx: Transaction, old: int, new: int) -> None:
    """Save the new id of the staff's group. The outbox calls this."""
    await MovedChatRepository(tx).save(old, new)
    await BotMessageRepository(tx).delete_in_chat(old)

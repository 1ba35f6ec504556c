"""Render the reminders of tickets that wait for a reply: to support, and to operators."""

from collections.abc import Mapping

from bot.infra.outbox.model import DeliveryOutcome, Notification, NotificationKind, Sent
from bot.staff.staff_chat import StaffChat
from bot.support.model import BotMessage
from bot.support.notification_kinds import StaffNotification, TicketWait
from bot.support.notifications.screens import staff_lines as screens
from bot.support.ticket import Ticket
from bot.support.tickets.bot_message_repository import BotMessageRepository
from bot.support.tickets.repository import TicketRepository
from bot.users.readers import RenderContext, Renderer


class ReminderMessages:
    """Render reminders. If support has replied since, nothing is sent."""

    def __init__(self, staff_chat: StaffChat) -> None:
        self._staff_chat = staff_chat

    def renderers(self) -> Mapping[NotificationKind, Renderer]:
        """Return the renderer of each kind of notification."""
        return {
            StaffNotification.WAITS: render_for_staff,
            StaffNotification.WAITS_LONG: self.render_for_operator,
        }

    async def render_for_operator(
        self, notification: Notification[TicketWait], context: RenderContext
    ) -> DeliveryOutcome:
        """Remind an operator, with a link to the ticket."""
        async with context.database.reading() as tx:
            group = await self._staff_chat.group(tx)
        ticket, card = await _read(notification.payload, context, group)
        if ticket is None:
            return Sent()
        reader = await context.reader_who_knows(ticket.claimed_by)
        screen = screens.remind_operator(reader, ticket, card.link if card else None)
        return await context.send_text(notification, screen, priority="talk")


async def render_for_staff(notification: Notification[TicketWait], context: RenderContext) -> DeliveryOutcome:
    """Remind support, under the ticket's card."""
    ticket, card = await _read(notification.payload, context, notification.chat_id)
    if ticket is None:
        return Sent()
    screen = screens.remind_staff(await context.reader_who_knows(ticket.claimed_by), ticket)
    reply_to, topic_id = (card.message_id, card.topic_id) if card else (None, None)
    return await context.send_text(notification, screen, priority="talk", reply_to=reply_to, topic_id=topic_id)


async def _read(
    wait: TicketWait, context: RenderContext, chat_id: int | None
) -> tuple[Ticket | None, BotMessage | None]:
    """Return the ticket, if it is still the same wait, and its card in a chat."""
    async with context.database.reading() as tx:
        ticket = await TicketRepository(tx).get(wait.ticket)
        card = await BotMessageRepository(tx).card(wait.ticket, chat_id) if chat_id else None
    still_waits = ticket is not None and ticket.is_open and ticket.waiting_since == wait.since
    return (ticket if still_waits else None), card

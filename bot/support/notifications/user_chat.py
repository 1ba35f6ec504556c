"""Tell users that their ticket was closed, and in a message about a problem that one was opened.

Also delete the messages in the staff's chats about tickets of a deleted user.
"""

from collections.abc import Mapping
from datetime import timedelta

from bot.infra.outbox.model import DeliveryOutcome, Notification, NotificationKind, Sent
from bot.infra.outbox.rendering import delivery_outcome
from bot.infra.telegram.outbound.sender import Invalid, Outcome, TryLater
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.support.notification_kinds import AboutTicket, DeletedTicket, StaffNotification, TicketNotification
from bot.support.reply_time import ReplyTime
from bot.support.ticket import Ticket
from bot.support.tickets.repository import TicketRepository
from bot.support.user_chat.screens import page as ticket_page
from bot.support.user_chat.screens import question as ticket_question
from bot.users.readers import RenderContext, Renderer


class UserChatMessages:
    """Render messages to users about their tickets. `reopen_within` is how long a closed ticket can be reopened."""

    def __init__(self, *, reopen_within: timedelta, reply_time: ReplyTime) -> None:
        self._within = reopen_within
        self._reply_time = reply_time

    def renderers(self) -> Mapping[NotificationKind, Renderer]:
        """Return the renderer of each kind of notification."""
        return {
            TicketNotification.CLOSED: self.render_closed,
            StaffNotification.DELETED: remove_deleted,
        }

    async def describe_ticket(self, context: RenderContext, order: Order) -> Screen | None:
        """Return what the message about an order's problem says about its open ticket (`DescribeTicket`)."""
        async with context.database.reading() as tx:
            ticket = await TicketRepository(tx).open_of(order.user_id, order.reference)
        if ticket is None:
            return None
        return ticket_question.describe_ticket(context.t, ticket, await self._reply_time.get())

    async def render_closed(self, notification: Notification[AboutTicket], context: RenderContext) -> DeliveryOutcome:
        """Send that the ticket was closed, if it still is."""
        ticket, order = await _read(notification, context)
        if ticket is None or ticket.is_open:
            return Sent()
        can_reopen = ticket.can_be_reopened(context.now, self._within)
        screen = ticket_page.show_ticket(context.reader, ticket, order, can_reopen=can_reopen)
        return await context.send_text(notification, screen, priority="money", silent=ticket.closed_by is None)


async def remove_deleted(notification: Notification[DeletedTicket], context: RenderContext) -> DeliveryOutcome:
    """Delete a deleted user's ticket in a chat of staff. It can be repeated."""
    if notification.payload.chat != notification.chat_id:
        return Sent()
    for outcome in await _remove_messages(notification.payload, context):
        if isinstance(outcome, TryLater):
            return delivery_outcome(outcome)
    return Sent()


async def _remove_messages(deleted: DeletedTicket, context: RenderContext) -> list[Outcome]:
    """Delete the ticket's topics, or if we may not, each of our messages."""
    messenger = context.messenger
    gone = [await messenger.topics.delete_topic(deleted.chat, topic) for topic in deleted.topics]
    if gone and all(not isinstance(each, Invalid) for each in gone):
        return gone
    return [await messenger.delete(deleted.chat, message, priority="talk") for message in deleted.messages]


async def _read(notification: Notification[AboutTicket], context: RenderContext) -> tuple[Ticket | None, Order | None]:
    async with context.database.reading() as tx:
        ticket = await TicketRepository(tx).get(notification.payload.ticket)
        about = ticket.order_reference if ticket is not None else ""
        return ticket, await OrderRepository(tx).get(about) if about else None

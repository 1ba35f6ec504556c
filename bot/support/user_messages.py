"""Render messages in users' chats: support's replies, their corrections, and what became of tickets.

A message shows the entry as it is when the message is sent. The result of a withdrawal is the id of the message that
reports it: the reply's own id if its text was removed, and another id if it was deleted. Support gets the true result
of each reply.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import DeliveryOutcome, Notification, NotificationKind, Sent, Undeliverable
from bot.infra.outbox.rendering import FinalResult, FollowUp, RenderWithFacts, delivery_outcome, with_repeat_note
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, NotModified
from bot.infra.telegram.ui.screen import Screen
from bot.orders.destinations.health import CachedMeasurement
from bot.orders.destinations.model import SAMPLE_PERIOD
from bot.orders.notifications import AboutOrder, OrderNotification
from bot.orders.order import Order
from bot.settlement.model import FAILED
from bot.staff.staff_chat import StaffChat
from bot.support.cases import order_of
from bot.support.entries import Place, edit_entry, send_entry
from bot.support.model import BotMessageRole, Ticket, TicketEntry, measure_tickets
from bot.support.notifications import (
    AboutTicket,
    Remark,
    TicketNotification,
    find_entry,
    notify_of_remark,
    save_bot_message,
    source_chat,
    staff_chats_with_source,
    update_card,
)
from bot.support.repository import TicketEntryRepository, TicketRepository
from bot.support.screens import user as user_screens
from bot.users.readers import RenderContext, Renderer

About = Notification[AboutTicket]

FAILURES: Final[Mapping[str, Remark]] = {
    TicketNotification.REPLY: Remark.FAILED,
    TicketNotification.REPLY_EDITED: Remark.CORRECTION_FAILED,
    TicketNotification.REPLY_WITHDRAWN: Remark.TAKING_BACK_FAILED,
}


class ReplyTime(CachedMeasurement[timedelta]):
    """The median time to the first reply, measured as `/stats` measures it."""

    async def _measure(self) -> timedelta | None:
        now = self._clock.now()
        async with self._database.reading() as tx:
            times = await TicketRepository(tx).times(now - SAMPLE_PERIOD, now)
        return measure_tickets(times).typical_reply


class UserMessages:
    """Render messages to users about their tickets, save them, and report their results to support.

    `reopen_within` is how long a closed ticket can be reopened.
    """

    def __init__(self, staff_chat: StaffChat, *, reopen_within: timedelta) -> None:
        self._staff_chat = staff_chat
        self._within = reopen_within

    def renderers(self) -> Mapping[NotificationKind, Renderer]:
        """Return the renderer of each kind of notification."""
        return {
            TicketNotification.REPLY: RenderWithFacts(_read_reply, _render_reply),
            TicketNotification.REPLY_EDITED: RenderWithFacts(_read_reply, _render_edited),
            TicketNotification.REPLY_WITHDRAWN: RenderWithFacts(_read_reply, _render_withdrawn),
            TicketNotification.CLOSED: RenderWithFacts(_read_ticket, self._render_closed),
        }

    def follow_ups(self) -> Mapping[NotificationKind, FollowUp]:
        """Return what follows for each kind of notification, also for those about problems with orders."""
        others = (TicketNotification.CLOSED, OrderNotification.FAILED, OrderNotification.OVERDUE)
        return {**dict.fromkeys(TicketNotification, self._finish_reply), **dict.fromkeys(others, self._finish)}

    async def _render_closed(
        self, notification: About, facts: tuple[Ticket | None, Order | None], context: RenderContext
    ) -> DeliveryOutcome:
        """Send that the ticket was closed, if it still is."""
        ticket, order = facts
        if ticket is None or ticket.is_open:
            return Sent()
        can_reopen = ticket.can_be_reopened(context.now, self._within)
        screen = user_screens.show_ticket(context.reader, ticket, order, can_reopen=can_reopen)
        return await context.send_text(notification, screen, priority="money", silent=ticket.closed_by is None)

    async def _finish(
        self, tx: Transaction, notification: Notification[AboutTicket | AboutOrder], result: FinalResult, now: datetime
    ) -> None:
        """Save a message about a ticket, or about its order's problem. Update the card, whose timeline shows it."""
        about, tickets = notification.payload, TicketRepository(tx)
        if isinstance(about, AboutOrder):
            ticket = await tickets.open_of(notification.chat_id, about.reference)
        else:
            ticket = await tickets.get(about.ticket)
        if ticket is not None:
            reference = ticket.reference
            await save_bot_message(tx, notification, result, now, BotMessageRole.REMARK, ticket=reference)
            await update_card(tx, self._staff_chat, reference, now, ticket.version, notification.id)

    async def _finish_reply(self, tx: Transaction, notification: About, result: FinalResult, now: datetime) -> None:
        """Save which message in the user's chat is the copy of a reply, and report the result to support.

        Success is reported only in the author's chat.
        """
        kind, entry = notification.kind, await find_entry(tx, notification)
        if entry is None:
            return
        chats, what, why = await staff_chats_with_source(tx, self._staff_chat, entry), None, ""
        is_withdrawn = entry.withdrawn_at is not None and kind != TicketNotification.REPLY_WITHDRAWN
        if isinstance(result, Undeliverable):
            what, why = None if is_withdrawn else FAILURES[kind], result.reason
            if kind == TicketNotification.REPLY:
                await TicketEntryRepository(tx).save(replace(entry, failure=why))
        elif kind == TicketNotification.REPLY_WITHDRAWN:
            what = _withdrawal_remark(entry, result)
            await save_bot_message(tx, notification, result, now, BotMessageRole.ENTRY)
        elif result.message_id is not None and not (is_withdrawn and kind == TicketNotification.REPLY_EDITED):
            what = Remark.DELIVERED if kind == TicketNotification.REPLY else Remark.CORRECTED
            chats = (await source_chat(tx, entry),)
            at = entry.delivered_at or now
            copy = replace(entry, message_id=result.message_id, delivered_at=at, failure=None)
            await TicketEntryRepository(tx).save(copy)
            await save_bot_message(tx, notification, result, now, BotMessageRole.ENTRY)
        if what is not None:
            await notify_of_remark(tx, chats, entry, what, now, notification.mark, why=why)
        if kind == TicketNotification.REPLY:
            # The card's timeline shows the reply as being sent.
            await update_card(tx, self._staff_chat, entry.ticket, now, "reply", notification.mark)


async def describe_ticket(reply_time: ReplyTime, context: RenderContext, order: Order) -> Screen | None:
    """Return what the message about an order's problem says about its open ticket (`DescribeTicket`)."""
    async with context.database.reading() as tx:
        ticket = await TicketRepository(tx).open_of(order.user_id, order.reference)
    if ticket is None:
        return None
    return user_screens.describe_ticket(context.t, ticket, await reply_time.get(), has_failed=order.state == FAILED)


async def _read_ticket(notification: About, tx: Transaction) -> tuple[Ticket | None, Order | None]:
    """Return the ticket, and its order."""
    ticket = await TicketRepository(tx).get(notification.payload.ticket)
    return ticket, await order_of(tx, ticket)


FILE_STAYS: Final = "the file can't be taken out of a message that is too old to be deleted"
MAYBE_ARRIVED: Final = "it may have arrived before it was taken back"
"""The failure of a reply that was withdrawn while it was being sent."""
GONE: Final = Undeliverable("the reply is gone")

ReplyFacts = tuple[TicketEntry | None, Order | None]


async def _render_reply(notification: About, facts: ReplyFacts, context: RenderContext) -> DeliveryOutcome:
    """Send a reply, unless it has been withdrawn."""
    entry, order = facts
    if entry is None:
        return GONE
    if entry.withdrawn_at is not None:
        # If the reply arrived, we don't know its message, so we can't delete it.
        return Undeliverable(MAYBE_ARRIVED) if notification.maybe_sent else Sent()
    return await _send_reply(notification, context, entry, user_screens.show_reply(context.t, entry, order))


async def _render_edited(notification: About, facts: ReplyFacts, context: RenderContext) -> DeliveryOutcome:
    """Edit the user's copy. If that is no longer possible, send another message."""
    entry, order = facts
    if entry is None:
        return GONE
    if entry.message_id is None or entry.withdrawn_at is not None:
        return Sent()
    screen = user_screens.show_reply(context.t, entry, order)
    edited = await edit_entry(context.messenger, notification.chat_id, entry.message_id, entry, screen)
    match edited:
        case Delivered() | NotModified():
            return Sent(entry.message_id)
        case Gone() | Invalid():
            return await _send_reply(notification, context, entry, screen, reply_to=entry.message_id)
    return delivery_outcome(edited)


async def _render_withdrawn(notification: About, facts: ReplyFacts, context: RenderContext) -> DeliveryOutcome:
    """Delete the user's copy and send a line instead, since it may have been read. Blank a copy that is too old."""
    entry, order = facts
    if entry is None:
        return GONE
    if entry.message_id is None:
        return Sent()
    screen = user_screens.show_withdrawn(context.t, entry, order)
    deleted = await context.messenger.delete(notification.chat_id, entry.message_id, priority="talk")
    if isinstance(deleted, Gone | Invalid):
        blanked = await _blank_copy(notification, context, entry.message_id, entry, screen)
        if blanked is not None:
            return blanked
    elif not isinstance(deleted, Delivered):
        return delivery_outcome(deleted)
    return await context.send_text(notification, screen, priority="talk", silent=screen.silent)


async def _blank_copy(
    notification: About, context: RenderContext, message_id: int, entry: TicketEntry, screen: Screen
) -> DeliveryOutcome | None:
    """Remove the text of the user's copy. Return None if the copy no longer exists."""
    edit = context.messenger.edit_caption if entry.media else context.messenger.edit_text
    edited = await edit(notification.chat_id, message_id, screen.text, screen.keyboard, priority="talk")
    match edited:
        case Delivered() | NotModified():
            return Undeliverable(FILE_STAYS) if entry.media else Sent(message_id)
        case Gone() | Invalid():
            return None
    return delivery_outcome(edited)


async def _send_reply(
    notification: About,
    context: RenderContext,
    entry: TicketEntry,
    screen: Screen,
    *,
    reply_to: int | None = None,
) -> DeliveryOutcome:
    shown = Screen(with_repeat_note(notification, context.t, screen.text), screen.keyboard)
    place = Place(notification.chat_id, reply_to=reply_to)
    return delivery_outcome(await send_entry(context.messenger, place, entry, shown))


async def _read_reply(notification: About, tx: Transaction) -> ReplyFacts:
    """Return the entry, and the order that its ticket is about."""
    return await find_entry(tx, notification), (await _read_ticket(notification, tx))[1]


def _withdrawal_remark(entry: TicketEntry, result: Sent) -> Remark:
    """Return how a reply was withdrawn.

    The message that reports it is the reply itself if that was blanked, and another one if it was deleted. Without
    a message, nothing had been sent.
    """
    if result.message_id is None:
        return Remark.MAYBE_SENT if entry.failure == MAYBE_ARRIVED else Remark.UNSENT
    return Remark.BLANKED if result.message_id == entry.message_id else Remark.TAKEN_BACK

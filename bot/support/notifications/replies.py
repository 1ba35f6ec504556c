"""Send, correct and withdraw support's replies in users' chats, and report the results to support.

A message shows the entry as it is when the message is sent. The result of a withdrawal is the id of the message that
reports it: the reply's own id if its text was removed, and another id if it was deleted.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.follow_ups import FinalResult, FollowUp
from bot.infra.outbox.model import DeliveryOutcome, Notification, NotificationKind, Sent, Undeliverable
from bot.infra.outbox.rendering import RenderWithFacts, delivery_outcome, with_repeat_note
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, NotModified
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.staff.staff_chat import StaffChat
from bot.support.entries import Place, edit_entry, send_entry
from bot.support.model import BotMessageRole, TicketEntry
from bot.support.notification_kinds import AboutEntry, Remark, TicketNotification
from bot.support.notification_queue import notify_of_remark, source_chat, staff_chats_with_source, update_card
from bot.support.notifications.bot_messages import find_entry, save_bot_message
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.repository import TicketRepository
from bot.support.user_chat.screens import reply as screens
from bot.users.readers import RenderContext, Renderer

FILE_STAYS: Final = "the file can't be taken out of a message that is too old to be deleted"
MAYBE_ARRIVED: Final = "it may have arrived before it was taken back"
"""The failure of a reply that was withdrawn while it was being sent."""
GONE: Final = Undeliverable("the answer is gone")

ReplyNotification = Notification[AboutEntry]
Answer = tuple[TicketEntry | None, Order | None]


async def render_reply(notification: ReplyNotification, facts: Answer, context: RenderContext) -> DeliveryOutcome:
    """Send a reply, unless it has been withdrawn."""
    entry, order = facts
    if entry is None:
        return GONE
    if entry.withdrawn_at is not None:
        # If the reply arrived, we don't know its message, so we can't delete it.
        return Undeliverable(MAYBE_ARRIVED) if notification.maybe_sent else Sent()
    return await _send(notification, context, entry, screens.show_reply(context.t, entry, order))


async def render_edited(notification: ReplyNotification, facts: Answer, context: RenderContext) -> DeliveryOutcome:
    """Edit the user's copy. If that is no longer possible, send another message."""
    entry, order = facts
    if entry is None:
        return GONE
    if entry.message_id is None or entry.withdrawn_at is not None:
        return Sent()
    screen = screens.show_reply(context.t, entry, order)
    edited = await edit_entry(context.messenger, notification.chat_id, entry.message_id, entry, screen)
    match edited:
        case Delivered() | NotModified():
            return Sent(entry.message_id)
        case Gone() | Invalid():
            return await _send(notification, context, entry, screen, reply_to=entry.message_id)
    return delivery_outcome(edited)


async def render_withdrawn(notification: ReplyNotification, facts: Answer, context: RenderContext) -> DeliveryOutcome:
    """Delete the user's copy and send a line instead, since it may have been read. Blank a copy that is too old."""
    entry, order = facts
    if entry is None:
        return GONE
    if entry.message_id is None:
        return Sent()
    screen = screens.show_withdrawn(context.t, entry, order)
    deleted = await context.messenger.delete(notification.chat_id, entry.message_id, priority="talk")
    if isinstance(deleted, Gone | Invalid):
        blanked = await _blank_copy(notification, context, entry.message_id, entry, screen)
        if blanked is not None:
            return blanked
    elif not isinstance(deleted, Delivered):
        return delivery_outcome(deleted)
    return await context.send_text(notification, screen, priority="talk", silent=screen.silent)


async def _blank_copy(
    notification: ReplyNotification, context: RenderContext, message_id: int, entry: TicketEntry, screen: Screen
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


async def _send(
    notification: ReplyNotification,
    context: RenderContext,
    entry: TicketEntry,
    screen: Screen,
    *,
    reply_to: int | None = None,
) -> DeliveryOutcome:
    shown = Screen(with_repeat_note(notification, context.t, screen.text), screen.keyboard)
    place = Place(notification.chat_id, reply_to=reply_to)
    return delivery_outcome(await send_entry(context.messenger, place, entry, shown))


async def _read(notification: ReplyNotification, tx: Transaction) -> Answer:
    """Return the entry, and the order that its ticket is about."""
    ticket = await TicketRepository(tx).get(notification.payload.ticket)
    entry = await find_entry(tx, notification)
    about = ticket.order_reference if ticket is not None else ""
    return entry, await OrderRepository(tx).get(about) if about else None


RENDERERS: Final[Mapping[NotificationKind, Renderer]] = {
    TicketNotification.REPLY: RenderWithFacts(_read, render_reply),
    TicketNotification.REPLY_EDITED: RenderWithFacts(_read, render_edited),
    TicketNotification.REPLY_WITHDRAWN: RenderWithFacts(_read, render_withdrawn),
}


class ReplyResults:
    """Save the results of replies, and report them to support."""

    def __init__(self, staff_chat: StaffChat) -> None:
        self._staff_chat = staff_chat

    def follow_ups(self) -> Mapping[NotificationKind, FollowUp]:
        """Return what follows for each kind of notification."""
        return {
            TicketNotification.REPLY: self._save_reply,
            TicketNotification.REPLY_EDITED: self._save_edit,
            TicketNotification.REPLY_WITHDRAWN: self._save_withdrawal,
        }

    async def _save_reply(
        self, tx: Transaction, notification: ReplyNotification, result: FinalResult, now: datetime
    ) -> None:
        entry = await find_entry(tx, notification)
        if entry is None:
            return
        if isinstance(result, Undeliverable):
            await TicketEntryRepository(tx).save(replace(entry, failure=result.reason))
            if entry.withdrawn_at is None:
                await self._report(tx, notification, entry, Remark.FAILED, now, why=result.reason)
        elif result.message_id is not None:
            await _save_copy(tx, notification, entry, result, now)
            await _report_to_author(tx, notification, entry, Remark.DELIVERED, now)
        # The card's timeline shows the reply as being sent.
        reference = notification.payload.ticket
        if await TicketRepository(tx).get(reference) is not None:
            await update_card(tx, self._staff_chat, reference, now, "reply", notification.mark)

    async def _save_edit(
        self, tx: Transaction, notification: ReplyNotification, result: FinalResult, now: datetime
    ) -> None:
        entry = await find_entry(tx, notification)
        if entry is None or entry.withdrawn_at is not None:
            return
        if isinstance(result, Undeliverable):
            await self._report(tx, notification, entry, Remark.CORRECTION_FAILED, now, why=result.reason)
        elif result.message_id is not None:
            await _save_copy(tx, notification, entry, result, now)
            await _report_to_author(tx, notification, entry, Remark.CORRECTED, now)

    async def _save_withdrawal(
        self, tx: Transaction, notification: ReplyNotification, result: FinalResult, now: datetime
    ) -> None:
        entry = await find_entry(tx, notification)
        if entry is None:
            return
        if isinstance(result, Undeliverable):
            await self._report(tx, notification, entry, Remark.TAKING_BACK_FAILED, now, why=result.reason)
            return
        await save_bot_message(tx, notification, result, now, BotMessageRole.ENTRY)
        await self._report(tx, notification, entry, _withdrawal_remark(entry, result), now)

    async def _report(
        self,
        tx: Transaction,
        notification: ReplyNotification,
        entry: TicketEntry,
        what: Remark,
        now: datetime,
        *,
        why: str = "",
    ) -> None:
        """Report to all chats of support, and to the author."""
        chats = await staff_chats_with_source(tx, self._staff_chat, entry)
        await notify_of_remark(tx, chats, entry, what, now, mark=notification.mark, why=why)


def _withdrawal_remark(entry: TicketEntry, result: Sent) -> Remark:
    """Return how a reply was withdrawn.

    The message that reports it is the reply itself if that was blanked, and another one if it was deleted. Without
    a message, nothing had been sent.
    """
    if result.message_id is None:
        return Remark.MAYBE_SENT if entry.failure == MAYBE_ARRIVED else Remark.UNSENT
    return Remark.BLANKED if result.message_id == entry.message_id else Remark.TAKEN_BACK


async def _report_to_author(
    tx: Transaction, notification: ReplyNotification, entry: TicketEntry, what: Remark, now: datetime
) -> None:
    """Report success only in the author's chat."""
    await notify_of_remark(tx, (await source_chat(tx, entry),), entry, what, now, mark=notification.mark)


async def _save_copy(
    tx: Transaction, notification: ReplyNotification, entry: TicketEntry, result: Sent, now: datetime
) -> None:
    """Save which message in the user's chat is the copy, so that a reply to it belongs to the ticket."""
    delivered_at = entry.delivered_at or now
    await TicketEntryRepository(tx).save(
        replace(entry, message_id=result.message_id, delivered_at=delivered_at, failure=None)
    )
    await save_bot_message(tx, notification, result, now, BotMessageRole.ENTRY)

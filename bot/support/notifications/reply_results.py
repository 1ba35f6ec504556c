"""What became of a reply on its way to the user, reported to support.

Each step follows a notification that was sent or given up, in the transaction that saves that.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.delivery import After
from bot.infra.outbox.model import Notification, NotificationKind, Sent, Undeliverable
from bot.staff.staff_chat import StaffChat
from bot.support.model import PostRole, TicketEntry
from bot.support.notifications.kinds import AboutEntry, Remark, TicketNotification
from bot.support.notifications.posts import find_entry, save_post
from bot.support.notifications.queueing import notify_of_remark, source_chat, staff_chats_with_source, update_card
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.repository import TicketRepository

Result = Sent | Undeliverable
ReplyNotification = Notification[AboutEntry]

MAYBE_ARRIVED: Final = "it may have arrived before it was taken back"
"""Why a reply that was withdrawn while it was being sent counts as undeliverable."""


class ReplyResults:
    """Save what became of replies, and report it to support."""

    def __init__(self, staff_chat: StaffChat) -> None:
        self._staff_chat = staff_chat

    def follow_ups(self) -> Mapping[NotificationKind, After]:
        """Return what follows for each kind of notification."""
        return {
            TicketNotification.REPLY: self._save_reply,
            TicketNotification.REPLY_EDITED: self._save_edit,
            TicketNotification.REPLY_WITHDRAWN: self._save_withdrawal,
        }

    async def _save_reply(
        self, tx: Transaction, notification: ReplyNotification, result: Result, now: datetime
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
        # The card's timeline said that it was being sent.
        reference = notification.payload.ticket
        if await TicketRepository(tx).get(reference) is not None:
            await update_card(tx, self._staff_chat, reference, now, "reply", notification.mark)

    async def _save_edit(self, tx: Transaction, notification: ReplyNotification, result: Result, now: datetime) -> None:
        entry = await find_entry(tx, notification)
        if entry is None or entry.withdrawn_at is not None:
            return
        if isinstance(result, Undeliverable):
            await self._report(tx, notification, entry, Remark.CORRECTION_FAILED, now, why=result.reason)
        elif result.message_id is not None:
            await _save_copy(tx, notification, entry, result, now)
            await _report_to_author(tx, notification, entry, Remark.CORRECTED, now)

    async def _save_withdrawal(
        self, tx: Transaction, notification: ReplyNotification, result: Result, now: datetime
    ) -> None:
        entry = await find_entry(tx, notification)
        if entry is None:
            return
        if isinstance(result, Undeliverable):
            await self._report(tx, notification, entry, Remark.TAKING_BACK_FAILED, now, why=result.reason)
            return
        await save_post(tx, notification, result, now, PostRole.ENTRY)
        await self._report(tx, notification, entry, _withdrawal(entry, result), now)

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
        """Report it wherever support works, and to the author."""
        chats = await staff_chats_with_source(tx, self._staff_chat, entry)
        await notify_of_remark(tx, chats, entry, what, now, mark=notification.mark, why=why)


def _withdrawal(entry: TicketEntry, result: Sent) -> Remark:
    """Return how a reply was withdrawn, by the message that reports it.

    If that is the reply's own, the reply was blanked. If it is another, the reply was deleted. If there is none, there
    was nothing to withdraw.
    """
    if result.message_id is None:
        return Remark.MAYBE_SENT if entry.failure == MAYBE_ARRIVED else Remark.UNSENT
    return Remark.BLANKED if result.message_id == entry.message_id else Remark.TAKEN_BACK


async def _report_to_author(
    tx: Transaction, notification: ReplyNotification, entry: TicketEntry, what: Remark, now: datetime
) -> None:
    """Report success only under the message itself, where its author looks."""
    await notify_of_remark(tx, (await source_chat(tx, entry),), entry, what, now, mark=notification.mark)


async def _save_copy(
    tx: Transaction, notification: ReplyNotification, entry: TicketEntry, result: Sent, now: datetime
) -> None:
    """Save which message in the user's chat is the copy. A reply to it is the user's next message."""
    delivered_at = entry.delivered_at or now
    await TicketEntryRepository(tx).save(
        replace(entry, message_id=result.message_id, delivered_at=delivered_at, failure=None)
    )
    await save_post(tx, notification, result, now, PostRole.ENTRY)

"""What became of an answer on its way to the user, reported to support.

Each step follows a notification that was sent or given up, in the transaction that saves that.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.delivery import After
from bot.infra.outbox.model import Notification, NotificationKind, Sent, Undeliverable
from bot.staff.roles import StaffChat
from bot.support.model import PostRole, TicketEntry
from bot.support.notifications.kinds import (
    AboutEntry,
    EntryRemark,
    Remark,
    StaffNotification,
    TicketNotification,
    TicketStep,
)
from bot.support.notifications.queueing import update_card
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.posting import entry_of, keep_post
from bot.support.tickets.remarks import AMONG_US, TO_NOTE, everywhere, remark, source_chat
from bot.support.tickets.repository import TicketRepository

End = Sent | Undeliverable
AnswerNotification = Notification[AboutEntry]

MAYBE_ARRIVED: Final = "it may have arrived before it was taken back"
"""Why an answer that was taken back in the middle of its way ends as untellable."""


class TicketRelay:
    """What follows when notifications about answers were sent or given up (`after` of the outbox)."""

    def __init__(self, room: StaffChat) -> None:
        self._room = room

    def after(self) -> Mapping[NotificationKind, After]:
        """Return what follows for each kind of notification."""
        return {
            TicketNotification.ANSWER: self._answer,
            TicketNotification.ANSWER_EDITED: self._edited,
            TicketNotification.ANSWER_WITHDRAWN: self._withdrawn,
            StaffNotification.REMARK: _remarked,
            StaffNotification.STEP: _save_step,
        }

    async def _answer(self, tx: Transaction, notification: AnswerNotification, how: End, now: datetime) -> None:
        entry = await entry_of(tx, notification)
        if entry is None:
            return
        if isinstance(how, Undeliverable):
            await TicketEntryRepository(tx).save(replace(entry, failure=how.reason))
            if entry.withdrawn_at is None:
                await self._to_all(tx, notification, entry, Remark.FAILED, now, why=how.reason)
        elif how.message_id is not None:
            await _arrived(tx, notification, entry, how, now)
            await _to_author(tx, notification, entry, Remark.DELIVERED, now)
        await self._show_in_case(tx, notification, now)

    async def _edited(self, tx: Transaction, notification: AnswerNotification, how: End, now: datetime) -> None:
        entry = await entry_of(tx, notification)
        if entry is None or entry.withdrawn_at is not None:
            return
        if isinstance(how, Undeliverable):
            await self._to_all(tx, notification, entry, Remark.CORRECTION_FAILED, now, why=how.reason)
        elif how.message_id is not None:
            await _arrived(tx, notification, entry, how, now)
            await _to_author(tx, notification, entry, Remark.CORRECTED, now)

    async def _withdrawn(self, tx: Transaction, notification: AnswerNotification, how: End, now: datetime) -> None:
        entry = await entry_of(tx, notification)
        if entry is None:
            return
        if isinstance(how, Undeliverable):
            await self._to_all(tx, notification, entry, Remark.TAKING_BACK_FAILED, now, why=how.reason)
            return
        await keep_post(tx, notification, how, now, PostRole.ENTRY)
        await self._to_all(tx, notification, entry, _taken_back(entry, how), now)

    async def _show_in_case(self, tx: Transaction, notification: AnswerNotification, now: datetime) -> None:
        """The card's timeline said that it was on its way."""
        reference = notification.payload.ticket
        if await TicketRepository(tx).get(reference) is not None:
            await update_card(tx, self._room, reference, now, "answer", notification.mark)

    async def _to_all(
        self,
        tx: Transaction,
        notification: AnswerNotification,
        entry: TicketEntry,
        what: Remark,
        now: datetime,
        *,
        why: str = "",
    ) -> None:
        where = await everywhere(tx, self._room, entry)
        await remark(tx, where, entry, what, now, mark=notification.mark, why=why)


def _taken_back(entry: TicketEntry, how: Sent) -> Remark:
    """Told as the answer's own message, it was blanked; told as another, deleted; told as none, there was nothing."""
    if how.message_id is None:
        return Remark.MAYBE_SENT if entry.failure == MAYBE_ARRIVED else Remark.UNSENT
    return Remark.BLANKED if how.message_id == entry.message_id else Remark.TAKEN_BACK


async def _to_author(
    tx: Transaction, notification: AnswerNotification, entry: TicketEntry, what: Remark, now: datetime
) -> None:
    """Success is told under the message itself, where whoever wrote it looks."""
    await remark(tx, (await source_chat(tx, entry),), entry, what, now, mark=notification.mark)


async def _arrived(
    tx: Transaction, notification: AnswerNotification, entry: TicketEntry, how: Sent, now: datetime
) -> None:
    """Its copy in the person's chat is this message, and a reply to it is the person's next word."""
    delivered_at = entry.delivered_at or now
    await TicketEntryRepository(tx).save(
        replace(entry, message_id=how.message_id, delivered_at=delivered_at, failure=None)
    )
    await keep_post(tx, notification, how, now, PostRole.ENTRY)


async def _remarked(tx: Transaction, notification: Notification[EntryRemark], how: End, now: datetime) -> None:
    """A line in support's chat is answered like the rest of the ticket; what is among support stays there."""
    if notification.payload.what in AMONG_US:
        await keep_post(tx, notification, how, now, PostRole.QUESTION, argument=f"{TO_NOTE}:")
    else:
        await keep_post(tx, notification, how, now, PostRole.REMARK)


async def _save_step(tx: Transaction, notification: Notification[TicketStep], how: End, now: datetime) -> None:
    await keep_post(tx, notification, how, now, PostRole.REMARK)

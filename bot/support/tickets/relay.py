"""What became of an answer on its way to the person, and that support hears the truth of it.

Each follows from the end of a piece of news, in the transaction that keeps that end.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.delivery import After
from bot.infra.outbox.model import Notification, Sent, Undeliverable
from bot.staff.roles import StaffChat
from bot.support.model import PostRole, TicketEntry
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.notifications import ToStaffChat, ToUser, marked, tell_room, ticket_in
from bot.support.tickets.posting import entry_of, keep_post
from bot.support.tickets.remarks import AMONG_US, TO_NOTE, Remark, everywhere, remark, source_chat
from bot.support.tickets.repository import TicketRepository

End = Sent | Undeliverable

MAYBE_ARRIVED: Final = "it may have arrived before it was taken back"
"""Why an answer that was taken back in the middle of its way ends as untellable."""


class TicketRelay:
    """What follows when news of answers end (`after` of the outbox)."""

    def __init__(self, room: StaffChat) -> None:
        self._room = room

    def after(self) -> Mapping[str, After]:
        """Kind of news -> what follows."""
        return {
            ToUser.ANSWER: self._answer,
            ToUser.ANSWER_EDITED: self._edited,
            ToUser.ANSWER_WITHDRAWN: self._withdrawn,
            ToStaffChat.REMARK: _remarked,
            ToStaffChat.STEP: _remarked,
        }

    async def _answer(self, tx: Transaction, news: Notification, how: End, now: datetime) -> None:
        entry = await entry_of(tx, news)
        if entry is None:
            return
        if isinstance(how, Undeliverable):
            await TicketEntryRepository(tx).save(replace(entry, failure=how.reason))
            if entry.withdrawn_at is None:
                await self._to_all(tx, news, entry, Remark.FAILED, now, why=how.reason)
        elif how.message_id is not None:
            await _arrived(tx, news, entry, how, now)
            await _to_author(tx, news, entry, Remark.DELIVERED, now)
        await self._show_in_case(tx, news, now)

    async def _edited(self, tx: Transaction, news: Notification, how: End, now: datetime) -> None:
        entry = await entry_of(tx, news)
        if entry is None or entry.withdrawn_at is not None:
            return
        if isinstance(how, Undeliverable):
            await self._to_all(tx, news, entry, Remark.CORRECTION_FAILED, now, why=how.reason)
        elif how.message_id is not None:
            await _arrived(tx, news, entry, how, now)
            await _to_author(tx, news, entry, Remark.CORRECTED, now)

    async def _withdrawn(self, tx: Transaction, news: Notification, how: End, now: datetime) -> None:
        entry = await entry_of(tx, news)
        if entry is None:
            return
        if isinstance(how, Undeliverable):
            await self._to_all(tx, news, entry, Remark.TAKING_BACK_FAILED, now, why=how.reason)
            return
        await keep_post(tx, news, how, now, PostRole.ENTRY)
        await self._to_all(tx, news, entry, _taken_back(entry, how), now)

    async def _show_in_case(self, tx: Transaction, news: Notification, now: datetime) -> None:
        """The card's timeline said that it was on its way."""
        ticket = await TicketRepository(tx).get(ticket_in(news.subject))
        if ticket is not None:
            await tell_room(tx, self._room, ticket, marked(ToStaffChat.CARD, f"answer.{news.kind_mark}"), now)

    async def _to_all(
        self, tx: Transaction, news: Notification, entry: TicketEntry, what: Remark, now: datetime, **why: object
    ) -> None:
        where = await everywhere(tx, self._room, entry)
        await remark(tx, where, entry, what, now, mark=news.kind_mark, **why)


def _taken_back(entry: TicketEntry, how: Sent) -> Remark:
    """Told as the answer's own message, it was blanked; told as another, deleted; told as none, there was nothing."""
    if how.message_id is None:
        return Remark.MAYBE_SENT if entry.failure == MAYBE_ARRIVED else Remark.UNSENT
    return Remark.BLANKED if how.message_id == entry.message_id else Remark.TAKEN_BACK


async def _to_author(tx: Transaction, news: Notification, entry: TicketEntry, what: Remark, now: datetime) -> None:
    """Success is told under the message itself, where whoever wrote it looks."""
    await remark(tx, (await source_chat(tx, entry),), entry, what, now, mark=news.kind_mark)


async def _arrived(tx: Transaction, news: Notification, entry: TicketEntry, how: Sent, now: datetime) -> None:
    """Its copy in the person's chat is this message, and a reply to it is the person's next word."""
    delivered_at = entry.delivered_at or now
    await TicketEntryRepository(tx).save(
        replace(entry, message_id=how.message_id, delivered_at=delivered_at, failure=None)
    )
    await keep_post(tx, news, how, now, PostRole.ENTRY)


async def _remarked(tx: Transaction, news: Notification, how: End, now: datetime) -> None:
    """A line in support's chat is answered like the rest of the ticket; what is among support stays there."""
    if news.payload.get("what") in set(AMONG_US):
        await keep_post(tx, news, how, now, PostRole.QUESTION, argument=f"{TO_NOTE}:")
    else:
        await keep_post(tx, news, how, now, PostRole.REMARK)

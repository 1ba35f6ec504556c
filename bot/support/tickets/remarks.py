"""What support is told in one line: what a colleague wrote elsewhere, and what became of an answer.

None of it holds what anybody wrote: that is read, sealed as it is, when the line is told.
"""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.staff.chat_repository import MovedChatRepository
from bot.staff.roles import StaffChat
from bot.support.model import TicketEntry
from bot.support.tickets.notifications import ToStaffChat, marked, tell_chats


class Remark(StrEnum):
    """What there is to remark about an entry."""

    ANSWERED = "answered"  # in another chat than this one
    NOTED = "noted"  # likewise
    TAKEN_OVER = "taken_over"  # the entry is the note that came along
    DELIVERED = "delivered"
    FAILED = "failed"
    CORRECTED = "corrected"  # the person's copy is as the edited answer
    CORRECTION_FAILED = "correction_failed"
    TAKEN_BACK = "taken_back"  # the person's copy is deleted
    BLANKED = "blanked"  # too old to be deleted: its words were taken out
    UNSENT = "unsent"  # taken back before it was sent
    MAYBE_SENT = "maybe_sent"  # taken back while nobody knows whether it has arrived
    TAKING_BACK_FAILED = "taking_back_failed"


AMONG_US: Final = frozenset({Remark.NOTED, Remark.TAKEN_OVER})
"""Whoever answers one of these answers a colleague: that is a note, too."""

TO_NOTE: Final = "note"
"""The question that a line of these is, for whoever replies to it."""


async def remark(
    tx: Transaction,
    chat_ids: Iterable[int],
    entry: TicketEntry,
    what: Remark,
    now: datetime,
    *,
    mark: object = "",
    **facts: object,
) -> None:
    """Queue the line for these chats; `mark` tells two of a kind about one entry apart."""
    kind = marked(ToStaffChat.REMARK, f"{what}.{entry.number}.{mark}" if mark else f"{what}.{entry.number}")
    await tell_chats(tx, chat_ids, entry.ticket, kind, now, what=str(what), entry=entry.number, **facts)


async def elsewhere(tx: Transaction, room: StaffChat, entry: TicketEntry) -> tuple[int, ...]:
    """Where support works and doesn't see the message that the entry was made of."""
    source = await source_chat(tx, entry)
    return tuple(chat_id for chat_id in await room.chats(tx) if chat_id != source)


async def everywhere(tx: Transaction, room: StaffChat, entry: TicketEntry) -> tuple[int, ...]:
    """The same, and the chat of the message itself."""
    return (await source_chat(tx, entry), *await elsewhere(tx, room, entry))


async def source_chat(tx: Transaction, entry: TicketEntry) -> int:
    """The chat of the message that the entry was made of, by the id that it has now."""
    return await MovedChatRepository(tx).current(entry.source_chat_id)

"""What support is told in one line: what a colleague wrote elsewhere, and what became of an answer.

None of it holds what anybody wrote: that is read, sealed as it is, when the line is sent.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import mark_of
from bot.staff.chat_repository import MovedChatRepository
from bot.staff.roles import StaffChat
from bot.support.model import TicketEntry
from bot.support.notifications.kinds import EntryRemark, Remark, StaffNotification
from bot.support.notifications.queueing import notify_chats

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
    mark: str = "",
    by: int = 0,
    before: int = 0,
    why: str = "",
) -> None:
    """Queue the line for these chats. `mark` tells two of a kind about one entry apart."""
    payload = EntryRemark(entry.ticket, entry.number, what, by, before, why)
    whole_mark = mark_of(what, entry.number, *((mark,) if mark else ()))
    await notify_chats(tx, chat_ids, StaffNotification.REMARK, payload, now, mark=whole_mark)


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

"""A message of a ticket was corrected, by its person or by support: whoever has seen it sees that."""

from telegram import Message, Update

from bot.core.errors import Rejection
from bot.infra.telegram.ui.session import SESSION
from bot.support.model import EntryKind, TicketEntry
from bot.support.staff.notes import note_in
from bot.support.staff.replies import passable
from bot.support.staff.screens import talk as staff_talk
from bot.support.staff.session import StaffSession, open_staff_session
from bot.support.user_chat.messages import written_in


async def take(update: Update, message: Message) -> bool:
    """Whether it was one of a ticket. A former supporter's corrections change nothing."""
    session = SESSION.get()
    entry = await session.desk.ticket_corrections.entry_of(message.chat_id, message.message_id)
    if entry is None:
        return False
    if entry.author_id != session.person.id:
        return True
    if entry.kind is EntryKind.ASKED:
        written = written_in(message)
        if written is not None:
            await session.desk.ticket_corrections.edit(entry, session.person.id, written)
        return True
    staff = await open_staff_session(update)
    if staff is not None:
        await _corrected(staff, entry, message)
    return True


async def _corrected(staff: StaffSession, entry: TicketEntry, message: Message) -> None:
    """What came of it for the person is told when it is known; a note is seen by support alone."""
    try:
        written = note_in(message) if entry.kind is EntryKind.NOTE else passable(message)
        if written is not None:
            await staff.desk.ticket_corrections.edit(entry, staff.person.id, written)
    except Rejection as why:
        await staff.say(staff_talk.not_corrected(staff.t, why))

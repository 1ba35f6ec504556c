"""Messages that were edited after they were sent: an edit changes what was made of the message, and nothing else."""

from telegram import Message, Update
from telegram.ext import MessageHandler, filters

from bot.core.errors import Rejection
from bot.infra.telegram.ui.handling import Handler
from bot.support.incoming_messages import read_message
from bot.support.model import EntryKind, TicketEntry
from bot.support.staff.replies import read_note, read_reply
from bot.support.staff.screens import talk as staff_talk
from bot.support.staff.session import StaffSession, StaffSessions
from bot.support.tickets.corrections import TicketCorrectionService
from bot.users.session import Session, handle


class EditHandlers:
    """Pass on what users and support agents edit in the messages of tickets."""

    def __init__(self, *, corrections: TicketCorrectionService, staff_sessions: StaffSessions) -> None:
        self._corrections = corrections
        self._staff_sessions = staff_sessions

    def handler(self) -> Handler:
        """Return what takes every edited message, so that no other handler takes one for something new."""
        return MessageHandler(filters.UpdateType.EDITED_MESSAGE, handle(self._edited))

    async def _edited(self, session: Session, update: Update) -> None:
        message = update.edited_message
        entry = await self._corrections.find(message.chat_id, message.message_id) if message else None
        if message is None or entry is None or entry.author_id != session.user.id:
            return
        if entry.kind is EntryKind.ASKED:
            incoming = read_message(message)
            if incoming is not None:
                await self._corrections.edit(entry, session.user.id, incoming)
            return
        # The edits of a former support agent change nothing.
        staff = await self._staff_sessions.open(update)
        if staff is not None:
            await self._edit_by_staff(staff, entry, message)

    async def _edit_by_staff(self, staff: StaffSession, entry: TicketEntry, message: Message) -> None:
        """Save the edit. What comes of it in the user's chat is reported when it is known."""
        try:
            incoming = read_note(message) if entry.kind is EntryKind.NOTE else read_reply(message)
            if incoming is not None:
                await self._corrections.edit(entry, staff.user.id, incoming)
        except Rejection as why:
            await staff.say(staff_talk.explain_not_corrected(staff.t, why))

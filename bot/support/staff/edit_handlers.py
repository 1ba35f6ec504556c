"""Handle edited messages. An edit of a ticket's message changes its entry. Checkout explains those of answers."""

from telegram import Chat, Message, Update
from telegram.ext import ApplicationHandlerStop, MessageHandler, filters

from bot.core.errors import Rejection
from bot.infra.telegram.ui.router import Context, Handler
from bot.support.incoming_messages import read_message
from bot.support.model import EntryKind, TicketEntry
from bot.support.staff.replies import ReplyHandlers, read_note, read_reply
from bot.support.staff.screens import talk as staff_talk
from bot.support.staff.session import StaffSession, StaffSessions
from bot.support.tickets.corrections import TicketCorrectionService
from bot.users.session import Session, current_session


class EditHandlers:
    """Pass on the edits of users and support agents in tickets."""

    def __init__(
        self, *, corrections: TicketCorrectionService, staff_sessions: StaffSessions, replies: ReplyHandlers
    ) -> None:
        self._corrections = corrections
        self._replies = replies
        self._staff_sessions = staff_sessions

    def handler(self) -> Handler:
        """Return the handler of edited messages. Those of private chats that are in no ticket go to the next one."""

        async def edited(update: Update, _: Context) -> None:
            message = update.edited_message
            entry = await self._corrections.find(message.chat_id, message.message_id) if message else None
            if entry is None and update.effective_chat is not None and update.effective_chat.type == Chat.PRIVATE:
                return
            await self._edited(current_session(), update, entry)
            raise ApplicationHandlerStop

        return MessageHandler(filters.UpdateType.EDITED_MESSAGE, edited)

    async def _edited(self, session: Session, update: Update, entry: TicketEntry | None) -> None:
        message = update.edited_message
        if message is not None and entry is None:
            # A message that was too long, for example, wasn't saved, and can be sent after its edit.
            await self._replies.take_message(update, message)
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
        """Save an agent's edit. A notification reports when the user's copy has changed."""
        try:
            incoming = read_note(message) if entry.kind is EntryKind.NOTE else read_reply(message)
            if incoming is not None:
                await self._corrections.edit(entry, staff.user.id, incoming)
        except Rejection as why:
            is_sent = entry.kind is not EntryKind.UNDECIDED
            await staff.say(staff_talk.explain_not_corrected(staff.t, why, is_sent=is_sent))

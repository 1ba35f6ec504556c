"""What support agents write in a ticket: replies to its user, notes (`/note`), and replies taken back (`/unsend`).

A reply to one of the bot's messages of a ticket goes to the ticket's user. What agents write beside that is talk among
themselves: it isn't passed on, and not kept.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from typing import Final

from telegram import Message, Update
from telegram.ext import ApplicationHandlerStop, MessageHandler, filters

from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.infra.telegram.outbound.sender import Messenger
from bot.infra.telegram.ui.handling import Context, Handler
from bot.infra.telegram.ui.questions import Questions
from bot.infra.telegram.ui.router import Routes
from bot.infra.telegram.ui.screen import Screen
from bot.support.incoming_messages import read_message
from bot.support.model import NOTE, IncomingMessage, PostRole, TicketEntry, TicketPost
from bot.support.staff.entries import count_excess_units
from bot.support.staff.messages import TakeReply, TicketMessages, TicketReply, ask_agent
from bot.support.staff.screens import talk as staff_talk
from bot.support.staff.screens import ticket as staff_ticket
from bot.support.staff.session import NEW_MESSAGES, StaffSession, StaffSessions, replied_message_id, topic_id_of
from bot.support.ticket import Ticket
from bot.support.tickets.corrections import TicketCorrectionService
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.post_repository import TicketPostRepository
from bot.support.tickets.repository import TicketRepository
from bot.support.tickets.staff_service import StaffTicketService
from bot.users.session import Session, current_session

SLASH: Final = "/"
CAN_BE_REPLIED_TO: Final = frozenset({PostRole.CARD, PostRole.ENTRY, PostRole.REMARK})
"""The messages of a ticket to which a reply goes to its user."""

_NOTE_COMMAND: Final = re.compile(r"^/note(?:@\w+)?(?:\s+|$)", re.IGNORECASE)


class ReplyHandlers:
    """Pass on what agents reply, keep what they note, and take back what they unsend."""

    def __init__(
        self,
        *,
        sessions: StaffSessions,
        database: Database,
        messenger: Messenger,
        messages: TicketMessages,
        tickets: StaffTicketService,
        corrections: TicketCorrectionService,
    ) -> None:
        self._sessions = sessions
        self._database = database
        self._messenger = messenger
        self._messages = messages
        self._tickets = tickets
        self._corrections = corrections

    def routes(self) -> Routes[StaffSession]:
        """Return the commands."""
        routes = self._sessions.routes()
        routes.add_command("note", self.note)
        routes.add_command("unsend", self.unsend)
        return routes

    def questions(self) -> Mapping[str, TakeReply]:
        """Return who takes the reply to which question."""
        return {NOTE: self._save_note_reply}

    def handler(self, answers: Mapping[str, TakeReply]) -> Handler:
        """Return what takes replies; `answers` says who takes the one to which question."""
        questions = Questions[TicketReply](lambda reply: reply.question, answers)

        async def reply(update: Update, _: Context) -> None:
            message = update.effective_message
            if message is not None and await self._take_reply(update, message, questions):
                raise ApplicationHandlerStop

        return MessageHandler(NEW_MESSAGES & filters.REPLY & ~filters.COMMAND, reply)

    async def note(self, staff: StaffSession, _: str) -> None:
        """Keep what the message says among support, in the ticket that it belongs to."""
        message = staff.message
        ticket = await self._find_ticket(staff, message) if message else None
        if message is None or ticket is None:
            await staff.say(staff_talk.explain_notes(staff.t))
            return
        await self._save_note(staff, ticket, message)

    async def unsend(self, staff: StaffSession, _: str) -> None:
        """Take back the reply that the message replies to. A notification reports what became of it."""
        message = staff.message
        entry = await self._find_entry(message) if message else None
        if entry is None:
            await staff.say(Screen(staff.t("ticket.no_answer")))
            return
        try:
            has_changed = await self._corrections.withdraw(entry, staff.user.id)
        except Rejection as why:
            await staff.say(Screen(staff.t.tell(why)))
        else:
            if not has_changed:
                await staff.say(Screen(staff.t("ticket.taken_back_already")))

    async def _take_reply(self, update: Update, message: Message, questions: Questions[TicketReply]) -> bool:
        """Return whether the message was a reply to a ticket's message, by an agent or somebody who believes to be."""
        session = current_session()
        post, ticket = await self._find_post(message)
        if post is None:
            return await self._explain_unknown(update, message)
        if ticket is None or message.chat_id == ticket.user_id:
            return False
        staff = await self._sessions.open(update)
        if staff is None:
            await self._refuse(session, message, ticket)
        elif post.role is PostRole.QUESTION:
            await questions.take(TicketReply(staff, ticket, post), message)
        elif post.role in CAN_BE_REPLIED_TO:
            await self._reply(staff, ticket, message)
        return True

    async def _reply(self, staff: StaffSession, ticket: Ticket, message: Message) -> None:
        """Pass the reply on. Success isn't confirmed here: a notification reports it once it is known."""
        if is_note(message):
            await self._save_note(staff, ticket, message)
            return
        try:
            await self._tickets.reply(ticket.reference, staff.user.id, read_reply(message))
        except Rejection as why:
            await self._messages.say(staff, ticket, staff_talk.explain_not_passed_on(staff.t, ticket, why))

    async def _find_post(self, message: Message) -> tuple[TicketPost | None, Ticket | None]:
        message_id = replied_message_id(message)
        if message_id is None:
            return None, None
        async with self._database.reading() as tx:
            post = await TicketPostRepository(tx).get(message.chat_id, message_id)
            return post, await TicketRepository(tx).get(post.ticket) if post else None

    async def _explain_unknown(self, update: Update, message: Message) -> bool:
        """Say that nothing was passed on, where the reply is to a message of a ticket that we don't remember.

        The bot was killed before it could remember the message, or a group left it behind. What it was isn't certain.
        """
        answered = message.reply_to_message
        author = answered.from_user if answered is not None else None
        if answered is None or author is None or author.username != self._messenger.username:
            return False
        reference = staff_ticket.find_reference(answered.text or answered.caption or "")
        staff = await self._sessions.open(update) if reference else None
        async with self._database.reading() as tx:
            ticket = await TicketRepository(tx).get(reference)
        if staff is None or ticket is None:
            return False
        screen = staff_talk.explain_not_passed_on(staff.t, ticket, Rejection(staff_talk.UNKNOWN))
        await self._messages.say(staff, ticket, screen)
        return True

    async def _refuse(self, session: Session, message: Message, ticket: Ticket) -> None:
        """Tell somebody who is no agent that their reply wasn't passed on."""
        screen = staff_talk.explain_not_passed_on(session.t, ticket, Rejection(staff_talk.STRANGER))
        await self._messenger.send_text(
            message.chat_id, screen.text, priority="talk", reply_to=message.message_id, topic_id=topic_id_of(message)
        )

    async def _save_note(self, staff: StaffSession, ticket: Ticket, message: Message) -> None:
        """Keep the note, and say that it went nowhere else."""
        note = read_note(message)
        if note is None:
            await ask_agent(self._messages, staff, ticket, NOTE, staff_talk.explain_notes(staff.t))
            return
        await self._tickets.add_note(ticket.reference, staff.user.id, note)
        await ask_agent(self._messages, staff, ticket, NOTE, staff_talk.confirm_note(staff.t, ticket))

    async def _save_note_reply(self, reply: TicketReply, _: str, message: Message) -> None:
        """Keep a reply to a note, or to what was said of one. Whatever it says, it isn't meant for the user."""
        await self._save_note(reply.staff, reply.ticket, message)

    async def _find_ticket(self, staff: StaffSession, message: Message) -> Ticket | None:
        """Return the ticket of what the message replies to, also of an agent's own words; else that of the topic."""
        answered = replied_message_id(message)
        async with self._database.reading() as tx:
            entry = await TicketEntryRepository(tx).of_source(message.chat_id, answered) if answered else None
            if entry is not None:
                return await TicketRepository(tx).get(entry.ticket)
        return await self._messages.ticket_of(staff, message)

    async def _find_entry(self, message: Message) -> TicketEntry | None:
        """Return the entry made of the message that this one replies to, or that the bot's message there is about."""
        answered = replied_message_id(message)
        if answered is None:
            return None
        async with self._database.reading() as tx:
            entry = await TicketEntryRepository(tx).of_source(message.chat_id, answered)
            post = await TicketPostRepository(tx).get(message.chat_id, answered) if entry is None else None
            return await TicketEntryRepository(tx).get(post.ticket, post.entry) if post else entry


def read_reply(message: Message) -> IncomingMessage:
    """Return what a message says, if that can be passed on as it is.

    Raises:
        Rejection: it is of another kind, too long, or looks like a command.
    """
    incoming = read_message(message)
    if incoming is None:
        raise Rejection(staff_talk.KIND)
    if (message.text or message.caption or "").startswith(SLASH):
        raise Rejection(staff_talk.COMMAND)
    over = count_excess_units(incoming)
    if over:
        raise Rejection(staff_talk.TOO_LONG, over=over)
    return incoming


def is_note(message: Message) -> bool:
    """Return whether the message begins with `/note`. The text under a picture can, too."""
    return _NOTE_COMMAND.match(message.text or message.caption or "") is not None


def read_note(message: Message) -> IncomingMessage | None:
    """Return what to keep of a note; None where nothing is left without the command."""
    incoming = read_message(message)
    if incoming is None:
        return None
    words, plain = (
        _NOTE_COMMAND.sub("", incoming.text or ""),
        _NOTE_COMMAND.sub("", message.text or message.caption or ""),
    )
    if words == incoming.text:  # the formatting begins at the command
        words = escape(plain)
    note = replace(incoming, text=words.strip() or None)
    return note if note.text or note.media else None

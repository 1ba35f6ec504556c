"""Handle what support agents write: replies to users, notes (`/note`) and withdrawals (`/unsend`).

A reply to one of the bot's messages of a ticket goes to the ticket's user. What an agent writes in a ticket's topic
without replying to the bot is saved, and the bot asks whether it is for the user. Other messages of agents, and replies
to a colleague, are neither passed on nor saved.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from typing import Final

from telegram import Message, Update
from telegram.ext import ApplicationHandlerStop, MessageHandler, filters

from bot.core.errors import Rejection
from bot.infra.feature import Infra
from bot.infra.telegram.ui.router import Context, Handler, Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.support.entries import count_excess_units
from bot.support.incoming_messages import read_message
from bot.support.model import NOTE, SEND, BotMessage, BotMessageRole, IncomingMessage, TicketEntry
from bot.support.notifications.screens import card as card_screens
from bot.support.staff.messages import TakeReply, TicketMessages, TicketReply, ask_agent
from bot.support.staff.screens import talk as staff_talk
from bot.support.staff.session import NEW_MESSAGES, StaffSession, StaffSessions, replied_message_id, topic_id_of
from bot.support.ticket import Ticket
from bot.support.tickets.bot_message_repository import BotMessageRepository
from bot.support.tickets.corrections import TicketCorrectionService
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.repository import TicketRepository
from bot.support.tickets.staff_service import StaffTicketService
from bot.users.session import Session, current_session
from bot.users.session_loader import is_anonymous

IN_GROUPS: Final = filters.ChatType.GROUPS
SLASH: Final = "/"
CAN_BE_REPLIED_TO: Final = frozenset({BotMessageRole.CARD, BotMessageRole.ENTRY, BotMessageRole.REMARK})
"""The roles of messages whose replies go to the ticket's user."""

_NOTE_COMMAND: Final = re.compile(r"^/note(?:@\w+)?(?:\s+|$)", re.IGNORECASE)


class ReplyHandlers:
    """Pass on agents' replies, save their notes, and withdraw replies."""

    def __init__(
        self,
        infra: Infra,
        *,
        sessions: StaffSessions,
        messages: TicketMessages,
        tickets: StaffTicketService,
        corrections: TicketCorrectionService,
    ) -> None:
        self._sessions = sessions
        self._database = infra.database
        self._messenger = infra.messenger
        self._messages = messages
        self._tickets = tickets
        self._corrections = corrections

    def routes(self) -> Routes[StaffSession]:
        """Return the commands."""
        routes = self._sessions.routes()
        routes.add_command("note", self.note, menu={Menu.SUPPORT: 60})
        routes.add_command("unsend", self.unsend, menu={Menu.SUPPORT: 70})
        return routes

    def questions(self) -> Mapping[str, TakeReply]:
        """Return the handlers of replies, by question."""
        return {NOTE: self._save_note_reply, SEND: self._ask_about_reply}

    def conversation_handler(self) -> Handler:
        """Return the handler of what agents write in a ticket's topic without replying to the bot."""

        async def write(update: Update, _: Context) -> None:
            message = update.effective_message
            if message is not None and await self.take_message(update, message):
                raise ApplicationHandlerStop

        return MessageHandler(NEW_MESSAGES & IN_GROUPS & ~filters.COMMAND & ~filters.StatusUpdate.ALL, write)

    async def take_message(self, update: Update, message: Message) -> bool:
        """Ask whether a message in a ticket's topic is for the user. Return False for other messages.

        A reply to a colleague is meant for them. A message without a topic belongs to the ticket of the message that it
        replies to, such as an earlier reply of the same agent.
        """
        staff = await self._sessions.open(update)
        if staff is None and is_anonymous(message):
            return await self._refuse_anonymous(message)
        if staff is None or staff.is_private or _is_to_colleague(message):
            return False
        if (message.text or message.caption or "").startswith(SLASH):
            return False
        ticket = await self._find_ticket(staff, message)
        if ticket is None:
            return False
        await self._ask_to_send(staff, ticket, message)
        return True

    def handler(self, answers: Mapping[str, TakeReply]) -> Handler:
        """Return the handler of replies. `answers` are the handlers of replies to questions."""

        async def reply(update: Update, _: Context) -> None:
            message = update.effective_message
            if message is not None and await self._take_reply(update, message, answers):
                raise ApplicationHandlerStop

        return MessageHandler(NEW_MESSAGES & filters.REPLY & ~filters.COMMAND, reply)

    async def note(self, staff: StaffSession, _: str) -> None:
        """Save the message as a note in its ticket."""
        message = staff.message
        ticket = await self._find_ticket(staff, message) if message else None
        if message is None or ticket is None:
            await staff.say(staff_talk.explain_notes(staff.t))
            return
        await self._save_note(staff, ticket, message)

    async def unsend(self, staff: StaffSession, _: str) -> None:
        """Withdraw the reply that the command replies to. A notification reports the result."""
        message = staff.message
        entry = await self._find_entry(message) if message else None
        if entry is None:
            await staff.say(Screen(staff.t("support.ticket.no_answer")))
            return
        try:
            has_changed = await self._corrections.withdraw(entry, staff.user.id)
        except Rejection as why:
            await staff.say(Screen(staff.t.translate(why)))
        else:
            if not has_changed:
                await staff.say(Screen(staff.t("support.ticket.taken_back_already")))

    async def _take_reply(self, update: Update, message: Message, answers: Mapping[str, TakeReply]) -> bool:
        """Handle a reply to a ticket's message. Return False for any other message, and for the ticket's own user."""
        session = current_session()
        bot_message, ticket = await self._find_replied(message)
        if bot_message is None:
            return await self._explain_unknown(update, message)
        if ticket is None or message.chat_id == ticket.user_id:
            return False
        staff = await self._sessions.open(update)
        if staff is None:
            await self._refuse(session, message, ticket)
        elif bot_message.role is BotMessageRole.QUESTION:
            reply = TicketReply(staff, ticket, bot_message)
            if (answer := answers.get(reply.question.name)) is not None:
                await answer(reply, reply.question.argument, message)
        elif bot_message.role in CAN_BE_REPLIED_TO:
            await self._reply(staff, ticket, message)
        return True

    async def _reply(self, staff: StaffSession, ticket: Ticket, message: Message) -> None:
        """Pass the reply on to the user. A notification reports its delivery later."""
        if is_note(message):
            await self._save_note(staff, ticket, message)
            return
        try:
            await self._tickets.reply(ticket.reference, staff.user.id, read_reply(message))
        except Rejection as why:
            await self._messages.say(staff, ticket, staff_talk.explain_not_passed_on(staff.t, ticket, why))

    async def _find_replied(self, message: Message) -> tuple[BotMessage | None, Ticket | None]:
        message_id = replied_message_id(message)
        if message_id is None:
            return None, None
        async with self._database.reading() as tx:
            bot_message = await BotMessageRepository(tx).get(message.chat_id, message_id)
            return bot_message, await TicketRepository(tx).get(bot_message.ticket) if bot_message else None

    async def _explain_unknown(self, update: Update, message: Message) -> bool:
        """Explain that a reply to an unknown message of a ticket wasn't passed on. Return False for other messages.

        The bot was killed before it saved the message, or the group got a new id. So we don't know what it was.
        """
        answered = message.reply_to_message
        author = answered.from_user if answered is not None else None
        if answered is None or author is None or author.username != self._messenger.username:
            return False
        reference = card_screens.find_reference(answered.text or answered.caption or "")
        staff = await self._sessions.open(update) if reference else None
        async with self._database.reading() as tx:
            ticket = await TicketRepository(tx).get(reference)
        if staff is None or ticket is None:
            return False
        screen = staff_talk.explain_not_passed_on(staff.t, ticket, Rejection(staff_talk.UNKNOWN))
        await self._messages.say(staff, ticket, screen)
        return True

    async def _refuse_anonymous(self, message: Message) -> bool:
        """Refuse what a hidden admin writes in a ticket's topic. Return False for other messages."""
        topic = topic_id_of(message)
        async with self._database.reading() as tx:
            reference = await BotMessageRepository(tx).of_topic(message.chat_id, topic) if topic is not None else None
            ticket = await TicketRepository(tx).get(reference) if reference else None
        if ticket is not None:
            await self._refuse(current_session(), message, ticket)
        return ticket is not None

    async def _refuse(self, session: Session, message: Message, ticket: Ticket) -> None:
        """Explain to a user who isn't an agent, or is hidden, that their reply wasn't passed on."""
        why = staff_talk.ANONYMOUS if is_anonymous(message) else staff_talk.STRANGER
        t = await self._sessions.read_translator(message.chat_id) or session.t
        screen = staff_talk.explain_not_passed_on(t, ticket, Rejection(why))
        await self._messenger.send_text(
            message.chat_id, screen.text, priority="talk", reply_to=message.message_id, topic_id=topic_id_of(message)
        )

    async def _save_note(self, staff: StaffSession, ticket: Ticket, message: Message) -> None:
        """Save the note, and confirm that only support sees it."""
        note = read_note(message)
        if note is None:
            await ask_agent(self._messages, staff, ticket, NOTE, staff_talk.explain_notes(staff.t))
            return
        await self._tickets.add_note(ticket.reference, staff.user.id, note)
        await ask_agent(self._messages, staff, ticket, NOTE, staff_talk.confirm_note(staff.t, ticket))

    async def _save_note_reply(self, reply: TicketReply, _: str, message: Message) -> None:
        """Save a reply to a note, or to the confirmation of one, as another note. It isn't meant for the user."""
        await self._save_note(reply.staff, reply.ticket, message)

    async def _ask_about_reply(self, reply: TicketReply, _: str, message: Message) -> None:
        """Ask about a reply to such a question, too."""
        await self._ask_to_send(reply.staff, reply.ticket, message)

    async def _ask_to_send(self, staff: StaffSession, ticket: Ticket, message: Message) -> None:
        """Save the message, and ask whether it is for the user. A notification asks."""
        try:
            await self._tickets.ask_to_send(ticket.reference, staff.user.id, read_reply(message))
        except Rejection as why:
            await self._messages.say(staff, ticket, staff_talk.explain_not_passed_on(staff.t, ticket, why))

    async def _find_ticket(self, staff: StaffSession, message: Message) -> Ticket | None:
        """Return the ticket of the message, bot's or agent's, that this one replies to, or of its topic."""
        answered = replied_message_id(message)
        async with self._database.reading() as tx:
            entry = await TicketEntryRepository(tx).of_source(message.chat_id, answered) if answered else None
            if entry is not None:
                return await TicketRepository(tx).get(entry.ticket)
        return await self._messages.ticket_of(staff, message)

    async def _find_entry(self, message: Message) -> TicketEntry | None:
        """Return the entry that this message replies to: the original message, or a message of the bot about it."""
        answered = replied_message_id(message)
        if answered is None:
            return None
        async with self._database.reading() as tx:
            entry = await TicketEntryRepository(tx).of_source(message.chat_id, answered)
            bot_message = await BotMessageRepository(tx).get(message.chat_id, answered) if entry is None else None
            return await TicketEntryRepository(tx).get(bot_message.ticket, bot_message.entry) if bot_message else entry


def read_reply(message: Message) -> IncomingMessage:
    """Return the content of a message that can be passed on to a user.

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


def _is_to_colleague(message: Message) -> bool:
    """Return whether a message replies to another person."""
    answered = message.reply_to_message
    if answered is None or replied_message_id(message) is None:
        return False
    theirs, own = answered.from_user, message.from_user
    return theirs is not None and not theirs.is_bot and (own is None or theirs.id != own.id)


def is_note(message: Message) -> bool:
    """Return whether the message, or its caption, begins with `/note`."""
    return _NOTE_COMMAND.match(message.text or message.caption or "") is not None


def read_note(message: Message) -> IncomingMessage | None:
    """Return the content of a note without the command, or None if it is empty."""
    incoming = read_message(message)
    if incoming is None:
        return None
    text = _NOTE_COMMAND.sub("", incoming.text or "")
    if text == incoming.text:  # the formatting starts at the command
        text = escape(_NOTE_COMMAND.sub("", message.text or message.caption or ""))
    note = replace(incoming, text=text.strip() or None)
    return note if note.text or note.media else None

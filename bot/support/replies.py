"""Handle what support agents write: replies to users, notes (`/note`), withdrawals (`/unsend`), and edits of these.

A reply to one of the bot's messages of a ticket goes to the ticket's user. What an agent writes in a ticket's topic
without replying to the bot is saved, and the bot asks whether it is for the user. Other messages of agents, and replies
to a colleague, are neither passed on nor saved. Checkout explains edits of messages that are in no ticket.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from typing import Final

from telegram import Chat, Message, Update
from telegram.ext import filters

from bot.core.errors import Rejection
from bot.infra.feature import Infra
from bot.infra.telegram.ui.routes import Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.support.entries import count_excess_units, read_message
from bot.support.model import NOTE, SEND, BotMessage, BotMessageRole, EntryKind, IncomingMessage, Ticket, TicketEntry
from bot.support.repository import BotMessageRepository, TicketEntryRepository, TicketRepository
from bot.support.screens import staff as staff_screens
from bot.support.service import answer_on_page
from bot.support.session import (
    StaffSession,
    StaffSessions,
    TakeReply,
    TicketMessages,
    TicketReply,
    ask_agent,
    replied_message_id,
    topic_id_of,
)
from bot.support.staff_service import StaffTicketService
from bot.users.session import Session, is_anonymous

SLASH: Final = "/"
CAN_BE_REPLIED_TO: Final = frozenset({BotMessageRole.CARD, BotMessageRole.ENTRY, BotMessageRole.REMARK})
"""The roles of messages whose replies go to the ticket's user."""

_NOTE_COMMAND: Final = re.compile(r"^/note(?:@\w+)?(?:\s+|$)", re.IGNORECASE)


class ReplyHandlers:
    """Pass on agents' replies, save their notes, withdraw replies, and change what was edited, also by users.

    `answers` are the handlers of replies to the questions of others.
    """

    def __init__(
        self,
        infra: Infra,
        *,
        sessions: StaffSessions,
        messages: TicketMessages,
        tickets: StaffTicketService,
        answers: Mapping[str, TakeReply],
    ) -> None:
        self._sessions = sessions
        self._database = infra.database
        self._messenger = infra.messenger
        self._messages = messages
        self._tickets = tickets
        self._answers = {**answers, NOTE: self._save_note_reply, SEND: self._ask_about_reply}

    def routes(self) -> Routes[StaffSession]:
        """Return the commands."""
        routes = self._sessions.routes()
        routes.add_command("note", self.note, menu={Menu.SUPPORT: 60})
        routes.add_command("unsend", self.unsend, menu={Menu.SUPPORT: 70})
        routes.add_command("answer", self.answer, menu={Menu.SUPPORT: 80})
        return routes

    async def take_topic_message(self, session: Session, update: Update) -> bool:
        """Ask about what an agent writes in a ticket's topic without a reply. Return False for any other update."""
        message = update.message
        if message is None or filters.StatusUpdate.ALL.check_update(update):
            return False
        return await self._take_message(session, update, message)

    async def _take_message(self, session: Session, update: Update, message: Message) -> bool:
        """Ask whether a message in a ticket's topic is for the user. Return False for other messages.

        A reply to a colleague is meant for them. A message without a topic belongs to the ticket of the message that it
        replies to, such as an earlier reply of the same agent.
        """
        staff = await self._sessions.open(session, update)
        if staff is None and is_anonymous(message):
            return await self._refuse_anonymous(session, message)
        if staff is None or staff.is_private or _is_to_colleague(message):
            return False
        if (message.text or message.caption or "").startswith(SLASH):
            return False
        ticket = await self._find_ticket(staff, message)
        if ticket is None:
            return False
        await self._ask_to_send(staff, ticket, message)
        return True

    async def note(self, staff: StaffSession, _: str) -> None:
        """Save the message as a note in its ticket."""
        message = staff.message
        ticket = await self._find_ticket(staff, message) if message else None
        if message is None or ticket is None:
            await staff.say(staff_screens.explain_notes(staff.t))
            return
        await self._save_note(staff, ticket, message)

    async def answer(self, staff: StaffSession, typed: str) -> None:
        """Answer the payer of an order without a chat. Only they read it, on the order's page."""
        name, text = [*typed.split(maxsplit=1), "", ""][:2]
        reference = name.lstrip("#").upper()
        try:
            async with self._database.transaction() as tx:
                await answer_on_page(tx, reference, text.strip(), by=staff.user.id, now=staff.session.now)
        except Rejection as why:
            await staff.say(Screen(staff.t.translate(why)))
        else:
            await staff.say(Screen(staff.t("support.page_answer.saved", order=reference)))

    async def unsend(self, staff: StaffSession, _: str) -> None:
        """Withdraw the reply that the command replies to. A notification reports the result."""
        message = staff.message
        entry = await self._find_entry(message) if message else None
        if entry is None:
            await staff.say(Screen(staff.t("support.unsend.no_reply")))
            return
        try:
            has_changed = await self._tickets.withdraw(entry, staff.user.id)
        except Rejection as why:
            await staff.say(Screen(staff.t.translate(why)))
        else:
            if not has_changed:
                await staff.say(Screen(staff.t("support.unsend.already")))

    async def take_reply(self, session: Session, update: Update) -> bool:
        """Handle a reply to a ticket's message. Return False for any other update, and for the ticket's own user."""
        message = update.message
        if message is None or message.reply_to_message is None:
            return False
        bot_message, ticket = await self._find_replied(message)
        if bot_message is None:
            return await self._explain_unknown(session, update, message)
        if ticket is None or message.chat_id == ticket.user_id:
            return False
        staff = await self._sessions.open(session, update)
        if staff is None:
            await self._refuse(session, message, ticket)
        elif bot_message.role is BotMessageRole.QUESTION:
            reply = TicketReply(staff, ticket, bot_message)
            if (answer := self._answers.get(reply.question.name)) is not None:
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
            await self._messages.say(staff, ticket, staff_screens.explain_not_passed_on(staff.t, ticket, why))

    async def _find_replied(self, message: Message) -> tuple[BotMessage | None, Ticket | None]:
        message_id = replied_message_id(message)
        if message_id is None:
            return None, None
        async with self._database.reading() as tx:
            bot_message = await BotMessageRepository(tx).get(message.chat_id, message_id)
            return bot_message, await TicketRepository(tx).get(bot_message.ticket) if bot_message else None

    async def _explain_unknown(self, session: Session, update: Update, message: Message) -> bool:
        """Explain that a reply to an unknown message of a ticket wasn't passed on. Return False for other messages.

        The bot was killed before it saved the message, or the group got a new id. So we don't know what it was.
        """
        answered = message.reply_to_message
        author = answered.from_user if answered is not None else None
        if answered is None or author is None or author.username != self._messenger.username:
            return False
        reference = staff_screens.find_reference(answered.text or answered.caption or "")
        staff = await self._sessions.open(session, update) if reference else None
        async with self._database.reading() as tx:
            ticket = await TicketRepository(tx).get(reference)
        if staff is None or ticket is None:
            return False
        screen = staff_screens.explain_not_passed_on(staff.t, ticket, Rejection("support.staff.refusal.unknown"))
        await self._messages.say(staff, ticket, screen)
        return True

    async def _refuse_anonymous(self, session: Session, message: Message) -> bool:
        """Refuse what a hidden admin writes in a ticket's topic. Return False for other messages."""
        topic = topic_id_of(message)
        async with self._database.reading() as tx:
            reference = await BotMessageRepository(tx).of_topic(message.chat_id, topic) if topic is not None else None
            ticket = await TicketRepository(tx).get(reference) if reference else None
        if ticket is not None:
            await self._refuse(session, message, ticket)
        return ticket is not None

    async def _refuse(self, session: Session, message: Message, ticket: Ticket) -> None:
        """Explain to a user who isn't an agent, or is hidden, that their reply wasn't passed on."""
        why = "support.staff.refusal.anonymous" if is_anonymous(message) else "support.staff.refusal.stranger"
        t = await self._sessions.read_translator(message.chat_id) or session.t
        screen = staff_screens.explain_not_passed_on(t, ticket, Rejection(why))
        await self._messenger.send_text(
            message.chat_id, screen.text, priority="talk", reply_to=message.message_id, topic_id=topic_id_of(message)
        )

    async def _save_note(self, staff: StaffSession, ticket: Ticket, message: Message) -> None:
        """Save the note, and confirm that only support sees it."""
        note = read_note(message)
        if note is None:
            await ask_agent(self._messages, staff, ticket, NOTE, staff_screens.explain_notes(staff.t))
            return
        await self._tickets.add_note(ticket.reference, staff.user.id, note)
        await ask_agent(self._messages, staff, ticket, NOTE, staff_screens.confirm_note(staff.t, ticket))

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
            await self._messages.say(staff, ticket, staff_screens.explain_not_passed_on(staff.t, ticket, why))

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

    async def take_edit(self, session: Session, update: Update) -> bool:
        """Handle an edited message. Return False for any other update, and in private for one that is in no ticket."""
        message = update.edited_message
        if message is None:
            return False
        entry = await self._tickets.find(message.chat_id, message.message_id)
        if entry is None and message.chat.type == Chat.PRIVATE:
            return False
        if entry is None:
            # A message that was too long, for example, wasn't saved, and can be sent after its edit.
            await self._take_message(session, update, message)
        elif entry.author_id == session.user.id and entry.kind is EntryKind.ASKED:
            incoming = read_message(message)
            if incoming is not None:
                await self._tickets.edit(entry, session.user.id, incoming)
        elif entry.author_id == session.user.id:
            # The edits of a former support agent change nothing.
            staff = await self._sessions.open(session, update)
            if staff is not None:
                await self._edit_by_staff(staff, entry, message)
        return True

    async def _edit_by_staff(self, staff: StaffSession, entry: TicketEntry, message: Message) -> None:
        """Save an agent's edit. A notification reports when the user's copy has changed."""
        try:
            incoming = read_note(message) if entry.kind is EntryKind.NOTE else read_reply(message)
            if incoming is not None:
                await self._tickets.edit(entry, staff.user.id, incoming)
        except Rejection as why:
            is_sent = entry.kind is not EntryKind.UNDECIDED
            await staff.say(staff_screens.explain_not_corrected(staff.t, why, is_sent=is_sent))


def read_reply(message: Message) -> IncomingMessage:
    """Return the content of a message that can be passed on to a user.

    Raises:
        Rejection: it is of another kind, too long, or looks like a command.
    """
    incoming = read_message(message)
    if incoming is None:
        raise Rejection("support.staff.refusal.kind")
    if (message.text or message.caption or "").startswith(SLASH):
        raise Rejection("support.staff.refusal.command")
    over = count_excess_units(incoming)
    if over:
        raise Rejection("support.staff.refusal.too_long", over=over)
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

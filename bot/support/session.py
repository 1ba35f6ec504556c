"""The session of a support agent: one update, the agent, the place to answer in, and the messages of tickets there.

Agents can act in their private chat and in the staff's group, but in no other group. Operators who aren't agents can
look things up in their private chat, and what they are shown has no other buttons. Other users can't act anywhere.

An agent answers a question by a reply to it. The row of the question's message says what was asked. An answer is taken
once, because its message is. The audit log records who opened which page.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from telegram import Chat, Message, Update

from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.infra.feature import Infra
from bot.infra.i18n import Translator
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, Messenger
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.routes import Audience, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.staff.audit import record_audit
from bot.staff.buttons import LookupButton
from bot.staff.model import AuditAction
from bot.staff.staff_chat import StaffChat
from bot.support.cases import Case, read_case
from bot.support.model import BotMessage, BotMessageRole, Ticket
from bot.support.notifications import ticket_subject
from bot.support.repository import BotMessageRepository, TicketRepository
from bot.support.screens.lookups import show_ticket
from bot.users.model import User
from bot.users.questions import OpenQuestion
from bot.users.repository import GroupRepository
from bot.users.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class StaffSession:
    """One update of a support agent, or of an operator who only looks things up, and the place to answer in.

    `t` is in the agent's language in their private chat, and in the group's language in the group. `session.t` is
    always in the agent's language, for texts that only they see.
    """

    session: Session
    messenger: Messenger
    chat_id: int
    topic_id: int | None
    message_id: int | None
    message: Message | None
    """The agent's message, or the message with the pressed button. None if Telegram no longer gives its content."""
    t: Translator
    is_agent: bool = True

    @property
    def user(self) -> User:
        """The agent, or the operator."""
        return self.session.user

    @property
    def now(self) -> datetime:
        """The current time, in UTC."""
        return self.session.now

    @property
    def reader(self) -> Reader:
        """The reader of screens in this place."""
        return Reader(self.t, self.session.zone, self.now)

    async def reader_who_knows(self, *user_ids: int | None) -> Reader:
        """Return the reader with the names of these users."""
        return replace(self.reader, names=await self.messenger.names.find(user_ids))

    @property
    def is_private(self) -> bool:
        """Whether this is the agent's private chat."""
        return self.chat_id == self.session.user.id

    async def say(self, screen: Screen) -> int | None:
        """Reply with a new message. Return its id, or None if it may not have been sent."""
        screen = self._with_usable_buttons(screen)
        sent = await self.messenger.send_text(
            self.chat_id,
            screen.text,
            screen.keyboard,
            priority="talk",
            reply_to=self.message_id,
            topic_id=self.topic_id,
        )
        return sent.message_id if isinstance(sent, Delivered) else None

    async def edit_message(self, screen: Screen) -> None:
        """Replace the content of the pressed message. If it can't be edited, send a new one."""
        screen = self._with_usable_buttons(screen)
        if self.is_private:
            await self.session.keep_pressed(screen)
        if self.message_id is not None:
            edited = await self.messenger.edit_text(
                self.chat_id, self.message_id, screen.text, screen.keyboard, priority="talk"
            )
            if not isinstance(edited, Gone | Invalid):
                return
        await self.say(screen)

    def _with_usable_buttons(self, screen: Screen) -> Screen:
        """Return the screen without what only agents can press."""
        if self.is_agent:
            return screen
        rows = (
            tuple(each for each in row if each.data is None or LookupButton.read(each.data)) for row in screen.keyboard
        )
        return replace(screen, keyboard=tuple(filter(None, rows)))

    async def toast(self, key: str, *, alert: bool = False, **arguments: object) -> None:
        """Show a short text over the screen, only to the agent who pressed."""
        await self.session.acknowledge(self.session.t.plain(key, **arguments), alert=alert)


class StaffSessions:
    """Open sessions of support agents, and refuse other users."""

    def __init__(self, infra: Infra, staff_chat: StaffChat) -> None:
        self._infra = infra
        self._staff_chat = staff_chat

    def routes(self, audience: Audience = Audience.SUPPORT) -> Routes[StaffSession]:
        """Return empty routes for support agents, or all staff. Their commands don't exist for other users."""
        return Routes[StaffSession](audience, in_groups=True)

    def is_agent(self, user_id: int) -> bool:
        """Return whether this user is a support agent now."""
        return user_id in self._staff_chat.agent_ids

    async def open(
        self, session: Session, update: Update, audience: Audience = Audience.SUPPORT
    ) -> StaffSession | None:
        """Return the session of an update, or None if its user can't act here as one of this audience."""
        chat, message = update.effective_chat, update.effective_message
        is_agent = self.is_agent(session.user.id)
        may_look = audience is Audience.STAFF and session.is_operator and session.is_private
        if chat is None or not (is_agent or may_look):
            return None
        t = session.t if chat.type == Chat.PRIVATE else await self.read_translator(chat.id)
        if t is None:
            return None
        return StaffSession(
            session=session,
            messenger=self._infra.messenger,
            chat_id=chat.id,
            topic_id=topic_id_of(message),
            message_id=message.message_id if message is not None else None,
            message=message,
            t=t,
            is_agent=is_agent,
        )

    async def refuse(self, session: Session) -> None:
        """Answer a press by a user who can't act as an agent here."""
        await session.acknowledge(session.t.plain("support.staff.not_yours"), alert=True)

    async def read_translator(self, chat_id: int) -> Translator | None:
        """Return the translator for the language of the staff's group, or None if this chat is another one."""
        async with self._infra.database.reading() as tx:
            if chat_id != await self._staff_chat.group(tx):
                return None
            locale = await GroupRepository(tx).get_locale(chat_id)
        return self._infra.translations.get(locale or self._infra.default_locale)

    async def is_group(self, chat_id: int) -> bool:
        """Return whether this chat is the staff's group."""
        async with self._infra.database.reading() as tx:
            return chat_id == await self._staff_chat.group(tx)


def topic_id_of(message: object) -> int | None:
    """Return the id of a message's topic, or None outside of topics."""
    return message.message_thread_id if isinstance(message, Message) and message.is_topic_message else None


def replied_message_id(message: Message) -> int | None:
    """Return the id of the message that this one replies to, or None.

    In a topic, Telegram shows other messages as replies to the message that opened the topic. These aren't replies.
    """
    answered = message.reply_to_message
    return None if answered is None or answered.forum_topic_created is not None else answered.message_id


@asynccontextmanager
async def alert_on_rejection(staff: StaffSession) -> AsyncIterator[None]:
    """Show a rejection raised in the block as an alert over the screen."""
    try:
        yield
    except Rejection as rejection:
        await staff.toast(rejection.key, alert=True, **rejection.arguments)


class TicketMessages:
    """Send messages of tickets to agents, and find the ticket of a message."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def say(
        self,
        staff: StaffSession,
        ticket: Ticket,
        screen: Screen,
        role: BotMessageRole = BotMessageRole.REMARK,
        argument: str = "",
    ) -> None:
        """Send a message of a ticket, and save which ticket it belongs to."""
        await self._save(staff, ticket, await staff.say(screen), role, argument)

    async def replace_question(self, staff: StaffSession, ticket: Ticket, question: str) -> None:
        """Save that the pressed message asks another question now. Do nothing if Telegram doesn't name it."""
        await self._save(staff, ticket, staff.message_id, BotMessageRole.QUESTION, str(OpenQuestion(question)))

    async def forget(self, staff: StaffSession) -> None:
        """Delete the pressed message from the ticket's messages, because it no longer exists in Telegram."""
        if staff.message_id is not None:
            async with self._database.transaction() as tx:
                await BotMessageRepository(tx).delete(staff.chat_id, staff.message_id)

    async def _save(
        self, staff: StaffSession, ticket: Ticket, message_id: int | None, role: BotMessageRole, argument: str
    ) -> None:
        if message_id is None or not staff.is_agent:
            return
        async with self._database.transaction() as tx:
            messages, topic_id = BotMessageRepository(tx), staff.topic_id
            # In another ticket's topic, it belongs to no topic: who writes or deletes there means the other ticket.
            is_in_topic = topic_id is not None and await messages.of_topic(staff.chat_id, topic_id) == ticket.reference
            bot_message = BotMessage(
                chat_id=staff.chat_id,
                message_id=message_id,
                ticket=ticket.reference,
                role=role,
                topic_id=topic_id if is_in_topic else None,
                argument=argument,
                at=staff.now,
            )
            await messages.add(bot_message)

    async def ticket_of(self, staff: StaffSession, message: Message | None) -> Ticket | None:
        """Return the ticket that the message replies to, or the ticket of its topic."""
        answered = replied_message_id(message) if message is not None else None
        async with self._database.reading() as tx:
            bot_message = await BotMessageRepository(tx).get(staff.chat_id, answered) if answered else None
            reference = bot_message.ticket if bot_message else None
            if reference is None and staff.topic_id is not None:
                reference = await BotMessageRepository(tx).of_topic(staff.chat_id, staff.topic_id)
            return await TicketRepository(tx).get(reference) if reference else None

    async def is_of_ticket(self, staff: StaffSession) -> bool:
        """Return whether the agent's message, or the one they pressed a button of, belongs to a ticket."""
        if staff.message_id is None:
            return False
        async with self._database.reading() as tx:
            return await BotMessageRepository(tx).get(staff.chat_id, staff.message_id) is not None


@dataclass(frozen=True, slots=True)
class TicketReply:
    """An agent's reply to a question about a ticket."""

    staff: StaffSession
    ticket: Ticket
    question_message: BotMessage
    """The message with the question."""

    @property
    def question(self) -> OpenQuestion:
        """The question that was asked."""
        return OpenQuestion.read(self.question_message.argument)


TakeReply = Callable[[TicketReply, str, Message], Awaitable[object]]


async def ask_agent(
    messages: TicketMessages, staff: StaffSession, ticket: Ticket, question: str, screen: Screen
) -> None:
    """Ask an agent. Replies go to the handler registered for `question`."""
    await messages.say(staff, ticket, screen, BotMessageRole.QUESTION, str(OpenQuestion(question)))


class TicketPages:
    """Show the pages of tickets."""

    def __init__(self, database: Database, messages: TicketMessages) -> None:
        self._database = database
        self._messages = messages

    async def view(self, staff_id: int, ticket: Ticket, now: datetime) -> Case:
        """Return the case that a ticket is about."""
        async with self._database.transaction() as tx:
            subject = ticket_subject(ticket.reference)
            await record_audit(tx, staff_id, AuditAction.LOOKED, subject, now, user_id=ticket.user_id)
            return await read_case(tx, ticket.user_id, ticket.order_reference)

    async def show(self, staff: StaffSession, ticket: Ticket, *, in_place: bool = False) -> None:
        """Show a ticket's page as a new message of the ticket, or in place of the pressed message."""
        case = await self.view(staff.user.id, ticket, staff.now)
        async with self._database.reading() as tx:
            cards = await BotMessageRepository(tx).cards(ticket.reference)
        link = next((card.link for card in cards if card.link), None)
        reader = await staff.reader_who_knows(ticket.claimed_by, ticket.closed_by, *case.people)
        screen = show_ticket(reader, ticket, case, link, can_reply=staff.is_agent)
        await staff.session.acknowledge()
        if in_place:
            await staff.edit_message(screen)
        else:
            await self._messages.say(staff, ticket, screen)

"""The session of a support agent: one update, the agent, and the place to answer in.

Agents can act in their private chat and in the staff's group, but in no other group. Users who aren't agents, or no
longer are, can't act anywhere.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from telegram import Chat, Message, Update
from telegram.ext import filters

from bot.core.errors import Rejection
from bot.infra.feature import Infra
from bot.infra.i18n import Translator
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, Messenger
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.router import Audience, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.staff.staff_chat import StaffChat
from bot.users.group_repository import GroupRepository
from bot.users.model import User
from bot.users.session import Session, current_session

NEW_MESSAGES = filters.UpdateType.MESSAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class StaffSession:
    """One update of a support agent, and the place to answer in.

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

    @property
    def user(self) -> User:
        """The agent."""
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
        if self.message_id is not None:
            edited = await self.messenger.edit_text(
                self.chat_id, self.message_id, screen.text, screen.keyboard, priority="talk"
            )
            if not isinstance(edited, Gone | Invalid):
                return
        await self.say(screen)

    async def toast(self, key: str, *, alert: bool = False, **arguments: object) -> None:
        """Show a short text over the screen, only to the agent who pressed."""
        await self.session.acknowledge(self.session.t.plain(key, **arguments), alert=alert)


class StaffSessions:
    """Open sessions of support agents, and refuse other users."""

    def __init__(self, infra: Infra, staff_chat: StaffChat) -> None:
        self._infra = infra
        self._staff_chat = staff_chat

    def routes(self) -> Routes[StaffSession]:
        """Return empty routes for support agents. Their commands don't exist for other users."""
        return Routes[StaffSession](Audience.SUPPORT, open_session=self.open, refuse=self.refuse, only=NEW_MESSAGES)

    def is_agent(self, user_id: int) -> bool:
        """Return whether this user is a support agent now."""
        return user_id in self._staff_chat.agent_ids

    async def open(self, update: Update) -> StaffSession | None:
        """Return the session of an update, or None if its user can't act as an agent here."""
        session, chat, message = current_session(), update.effective_chat, update.effective_message
        if chat is None or not self.is_agent(session.user.id):
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
        )

    async def refuse(self, _: Update) -> None:
        """Answer a press by a user who can't act as an agent here."""
        session = current_session()
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

"""Support at work: whether somebody may act here, and how they are answered where they are.

They may in their private chat and in the staff's own group. Whoever isn't named in the settings (any more) may not,
wherever a button or a command of theirs comes from; and in a group that isn't the staff's nobody may.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from telegram import Chat, Message, Update
from telegram.ext import filters

from bot.core.errors import Rejection
from bot.infra.i18n import Translator
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid
from bot.infra.telegram.ui.router import Audience, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import SESSION, Desk, Session
from bot.support.ticket import Ticket
from bot.users.model import Person

TicketAct = Callable[["StaffSession", Ticket, str], Awaitable[None]]
"""Answers the press (once), and acts. The ticket is as it was read a moment ago: save over its version. A `Rejection`
that it raises before answering is shown to whoever pressed."""

NEW_MESSAGES = filters.UpdateType.MESSAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class StaffSession:
    """One update of a member of staff, and the place to answer it in.

    `t` speaks the place's language: in private the reader's own, in the group the default; `session.t` is always the
    reader's own, for what only they see.
    """

    session: Session
    chat_id: int
    topic_id: int | None
    message_id: int | None
    message: Message | None
    """What they wrote, or what they pressed a button of; None for a press under a message that Telegram withholds."""
    t: Translator

    @property
    def desk(self) -> Desk:
        """The parts of the house."""
        return self.session.desk

    @property
    def person(self) -> Person:
        """Who it is."""
        return self.session.person

    @property
    def is_private(self) -> bool:
        """Whether nobody else reads along."""
        return self.chat_id == self.session.person.id

    async def say(self, screen: Screen) -> int | None:
        """A new message, in answer to theirs; its id, where it surely was sent."""
        sent = await self.desk.messenger.send_text(
            self.chat_id,
            screen.text,
            screen.keyboard,
            lane="talk",
            reply_to=self.message_id,
            topic_id=self.topic_id,
        )
        return sent.message_id if isinstance(sent, Delivered) else None

    async def update(self, screen: Screen) -> None:
        """The pressed message with other content; a new one where it can't be changed."""
        if self.message_id is not None:
            edited = await self.desk.messenger.edit_text(
                self.chat_id, self.message_id, screen.text, screen.keyboard, lane="talk"
            )
            if not isinstance(edited, Gone | Invalid):
                return
        await self.say(screen)

    async def toast(self, key: str, *, alert: bool = False, **arguments: object) -> None:
        """A few words over the screen, for whoever pressed alone."""
        await self.session.acknowledge(self.session.t.plain(key, **arguments), alert=alert)


async def open_staff_session(update: Update) -> StaffSession | None:
    """Who acts, and where; None where they may not."""
    session, chat, message = SESSION.get(), update.effective_chat, update.effective_message
    if chat is None or session.person.id not in session.desk.support_room.supporters:
        return None
    if chat.type != Chat.PRIVATE and chat.id != await _group(session.desk):
        return None
    return StaffSession(
        session=session,
        chat_id=chat.id,
        topic_id=topic_of(message),
        message_id=message.message_id if message is not None else None,
        message=message,
        t=session.t if chat.type == Chat.PRIVATE else session.desk.translations.get(session.desk.default_locale),
    )


def topic_of(message: object) -> int | None:
    """The topic that a message stands in."""
    return message.message_thread_id if isinstance(message, Message) and message.is_topic_message else None


def replied_to(message: Message) -> int | None:
    """The message that this one answers; in a topic everything seems to answer the message that opened it."""
    answered = message.reply_to_message
    return None if answered is None or answered.forum_topic_created is not None else answered.message_id


def staff_routes() -> Routes[StaffSession]:
    """Return routes for support agents, in private or in their group. Their commands don't exist for anybody else."""
    return Routes[StaffSession](Audience.SUPPORT, open_session=open_staff_session, refuse=refuse, only=NEW_MESSAGES)


async def refuse(_: Update) -> None:
    """Tell somebody who isn't support, or not here, that a button isn't theirs to press."""
    session = SESSION.get()
    await session.acknowledge(session.t.plain("staff.not_yours"), alert=True)


@asynccontextmanager
async def rejection_alerts(staff: StaffSession) -> AsyncIterator[None]:
    """Show a rejection that is raised inside as an alert over the screen."""
    try:
        yield
    except Rejection as rejection:
        await staff.toast(rejection.key, alert=True, **rejection.arguments)


async def _group(desk: Desk) -> int | None:
    async with desk.store.reading() as tx:
        return await desk.support_room.group(tx)

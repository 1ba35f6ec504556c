"""Support at work: whether somebody may act here, and how they are answered where they are.

They may in their private chat and in the staff's own group. Whoever isn't named in the settings (any more) may not,
wherever a button or a command of theirs comes from; and in a group that isn't the staff's nobody may.
"""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from telegram import Chat, Message, Update
from telegram.ext import ApplicationHandlerStop, CallbackQueryHandler, CommandHandler, filters

from bot.infra.i18n import Translator
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid
from bot.infra.telegram.ui.handling import Context, Handler
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import SESSION, Desk, Session
from bot.users.model import Person

Act = Callable[["StaffSession", Update, Context], Awaitable[None]]
NEW_MESSAGES = filters.UpdateType.MESSAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class StaffSession:
    """One update of a member of staff, and the place to answer it in.

    `t` speaks the place's language: in private the reader's own, in the group the default; `visit.t` is always the
    reader's own, for what only they see.
    """

    visit: Session
    chat_id: int
    topic_id: int | None
    message_id: int | None
    t: Translator

    @property
    def desk(self) -> Desk:
        """The parts of the house."""
        return self.visit.desk

    @property
    def person(self) -> Person:
        """Who it is."""
        return self.visit.person

    @property
    def is_private(self) -> bool:
        """Whether nobody else reads along."""
        return self.chat_id == self.visit.person.id

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
        await self.visit.acknowledge(self.visit.t.plain(key, **arguments), alert=alert)


async def staff_visit(update: Update) -> StaffSession | None:
    """Who acts, and where; None where they may not."""
    visit, chat, message = SESSION.get(), update.effective_chat, update.effective_message
    if chat is None or visit.person.id not in visit.desk.support_room.supporters:
        return None
    if chat.type != Chat.PRIVATE and chat.id != await _group(visit.desk):
        return None
    return StaffSession(
        visit=visit,
        chat_id=chat.id,
        topic_id=topic_of(message),
        message_id=message.message_id if message is not None else None,
        t=visit.t if chat.type == Chat.PRIVATE else visit.desk.translations.get(visit.desk.default_locale),
    )


def topic_of(message: object) -> int | None:
    """The topic that a message stands in."""
    return message.message_thread_id if isinstance(message, Message) and message.is_topic_message else None


def replied_to(message: Message) -> int | None:
    """The message that this one answers; in a topic everything seems to answer the message that opened it."""
    answered = message.reply_to_message
    return None if answered is None or answered.forum_topic_created is not None else answered.message_id


def command(name: str, act: Act) -> Handler:
    """A command of support's. To everybody else it is one that doesn't exist."""
    return CommandHandler(name, _if_staff(act), filters=NEW_MESSAGES)


def press(pattern: Any, act: Act) -> Handler:  # noqa: ANN401  as the library's own
    """A button of support's. Whoever may not press it is told so."""
    return CallbackQueryHandler(_if_staff(act), pattern=pattern)


def _if_staff(act: Act) -> Callable[[Update, Context], Coroutine[Any, Any, None]]:
    async def handle(update: Update, context: Context) -> None:
        staff = await staff_visit(update)
        if staff is not None:
            await act(staff, update, context)
            raise ApplicationHandlerStop
        if update.callback_query is not None:
            visit = SESSION.get()
            await visit.acknowledge(visit.t.plain("staff.not_yours"), alert=True)
            raise ApplicationHandlerStop

    return handle


async def _group(desk: Desk) -> int | None:
    async with desk.store.reading() as tx:
        return await desk.support_room.group(tx)

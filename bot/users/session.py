"""The session of an update: who sent it, in which language and time zone, and the ways to answer."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from itertools import islice
from typing import Any, Final, Generic, TypeVar

from telegram import Message, Update
from telegram.ext import ApplicationHandlerStop

from bot.core.backoff import Backoff
from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.infra.db.errors import RowUnreadable
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.inbound.attempts import Attempt
from bot.infra.telegram.inbound.model import HANDLED_BY_QUESTION, ChatState
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, Messenger, Outcome, TryLater
from bot.infra.telegram.ui.formatting import format_arguments
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.router import Context
from bot.infra.telegram.ui.screen import Keyboard, Screen
from bot.users.model import User
from bot.users.repository import UserRepository

V = TypeVar("V")

RETRY_PAUSES: Final = Backoff(first=1.0, longest=3.0, factor=3.0)
"""Seconds before the next attempt at a message.

One that may have arrived is repeated, too: a question that is asked twice does no harm, one that is never asked keeps
a user waiting.
"""

RETRIES: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationHooks:
    """What the conversation registers for features that a user opens in the middle of it.

    Attributes:
        add_resume_button: returns a screen with a button back to the question that is open, if there is one.
        explain: answers a press of a button that no longer works with the text of a key, and shows what is open.
        show_question: shows the question that is open, and returns whether there is one.
        is_open: returns whether a question is open.
        report_damage: says that what is open can't be read, and closes it.
    """

    add_resume_button: "Callable[[Session, Screen], Screen]"
    explain: "Callable[[Session, str], Awaitable[None]]"
    show_question: "Callable[[Session], Awaitable[bool]]"
    is_open: "Callable[[Session], bool]"
    report_damage: "Callable[[Session], Awaitable[None]]"


def _keep_screen(_: "Session", screen: Screen) -> Screen:
    return screen


async def _explain_with_text(session: "Session", key: str) -> None:
    await session.acknowledge(session.t.plain(key))


async def _show_nothing(_: "Session") -> bool:
    return False


async def _explain_damage(session: "Session") -> None:
    await session.show_new(Screen(session.t("draft.unreadable")))


NO_CONVERSATION: Final = ConversationHooks(
    add_resume_button=_keep_screen,
    explain=_explain_with_text,
    show_question=_show_nothing,
    is_open=lambda _: False,
    report_damage=_explain_damage,
)
"""Stands for the conversation where no feature has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionServices:
    """What all sessions are answered with."""

    clock: Clock
    database: Database
    messenger: Messenger
    conversation: ConversationHooks = NO_CONVERSATION


@dataclass(frozen=True, eq=False)
class SessionKey(Generic[V]):
    """Names something that a feature loads for each update, such as the open draft: `session[DRAFT]`.

    `default` is what it is for an update for which nothing was loaded.
    """

    name: str
    default: V


@dataclass(slots=True, kw_only=True)
class Session:
    """One update of one user, and the ways to answer it."""

    services: SessionServices
    user: User
    t: Translator
    update_id: int
    chat: ChatState
    """What the buttons of the private chat depend on. It is saved when the update is finished."""
    attempt: Attempt | None = None
    is_private: bool = True
    """Whether it comes from the user's private chat with the bot, not from a group."""
    is_operator: bool = False
    """Whether the user is one of the operators. It is set for each update, so that an old button helps nobody."""
    damage: RowUnreadable | None = None
    """Why a row can't be read that every update needs, if so. Nothing else is done with such an update."""
    message_id: int | None = None
    has_text: bool = False
    """Whether the pressed message has text, which another screen can replace; a picture has none."""
    pressed: Message | None = None
    """The message with the pressed button; None where Telegram withholds it."""
    query_id: str | None = None
    """The press that has to be answered once."""
    notice: Html | None = None
    """What the next message says first."""
    failure: Exception | None = None
    """Why the update has to be handled again."""
    blocked_since: datetime | None = None
    """When the user blocked the bot, in the first update after they have unblocked it."""
    handled_by: str | None = None
    """What has taken this update in before, in an attempt that failed (`TAKEN_BY_…`)."""
    state: dict["SessionKey[Any]", Any] = field(default_factory=dict)

    @property
    def now(self) -> datetime:
        """The time of this moment, in UTC."""
        return self.services.clock.now()

    def __getitem__(self, key: "SessionKey[V]") -> V:
        """Return what a feature has loaded for this update, or the default."""
        value: V = self.state.get(key, key.default)
        return value

    def __setitem__(self, key: "SessionKey[V]", value: V) -> None:
        """Keep something of a feature until the end of this update."""
        self.state[key] = value

    @property
    def is_newest_question(self) -> bool:
        """Whether the pressed message holds the chat's newest question."""
        return self.message_id is not None and self.chat.question_message_id == self.message_id

    def is_double_tap(self, button: str) -> bool:
        """Whether the same button was answered in this chat just now."""
        return self.chat.is_double_tap(button, self.now)

    def record_tap(self, button: str) -> None:
        """Record that what the button asks for has been done."""
        self._change_chat(self.chat.with_tap(button, self.now))

    def _change_chat(self, chat: ChatState) -> None:
        if chat != self.chat:
            self.chat = chat
            if self.attempt is not None:
                self.attempt.chat = chat

    async def save_user(self, user: User) -> None:
        """Save the user of this session as they are now."""
        self.user = user
        async with self.services.database.transaction() as tx:
            await UserRepository(tx).save(user)

    @property
    def chat_id(self) -> int:
        """The user's private chat. It has the id of the user."""
        return self.user.id

    @property
    def zone(self) -> tzinfo:
        """The user's time zone."""
        return self.user.zone

    @property
    def reader(self) -> Reader:
        """The language, the zone and the time that screens of this update are written for."""
        return Reader(self.t, self.zone, self.now)

    @property
    def is_in_conversation(self) -> bool:
        """Whether a question of the conversation is open."""
        return self.services.conversation.is_open(self)

    @property
    def is_answered(self) -> bool:
        """Whether this update has answered a question already, before a crash or in an attempt that failed."""
        return self.user.answered_update_id == self.update_id or self.handled_by == HANDLED_BY_QUESTION

    def format_rejection(self, rejection: Rejection) -> Html:
        """Return why something can't be accepted, in the user's language and time zone."""
        return self.t(rejection.key, **format_arguments(self.t, rejection, self.services.clock.now(), self.zone))

    def with_resume(self, screen: Screen) -> Screen:
        """Return `screen` with a button back to the question of the conversation that is open, if there is one."""
        return self.services.conversation.add_resume_button(self, screen)

    async def report_damage(self) -> None:
        """Say that the open question of the conversation can't be read, and close it."""
        await self.services.conversation.report_damage(self)

    async def show_question(self) -> bool:
        """Show the question of the conversation that is open, and return whether there is one."""
        return await self.services.conversation.show_question(self)

    async def explain(self, key: str) -> None:
        """Answer a press of a button that no longer works, and show the question that is open, or how to begin."""
        await self.services.conversation.explain(self, key)

    def discard(self) -> None:
        """Forget what was loaded for this update. Nothing of a user who was just deleted may be saved again."""
        self.blocked_since = None
        self.state.clear()

    async def acknowledge(self, text: str | None = None, *, alert: bool = False) -> None:
        """Answer the press, if that wasn't done yet. Work comes after that."""
        if self.query_id is not None:
            query_id, self.query_id = self.query_id, None
            await self.services.messenger.answer_press(query_id, text, alert=alert)

    async def show(self, screen: Screen) -> None:
        """Show a question: in the pressed message's place, or as a new message after something typed."""
        screen = self._with_notice(screen)
        in_place = self.message_id is not None and await self._edit(self.message_id, screen)
        message_id = self.message_id if in_place else _message_id(await self._send(screen))
        stale = self.chat.question_message_id
        self._change_chat(replace(self.chat, question_message_id=message_id if screen.keyboard else None))
        if stale not in {None, message_id}:
            await self.services.messenger.edit_keyboard(self.chat_id, stale, (), priority="talk")

    async def show_new(self, screen: Screen) -> None:
        """Show a question as a new message. The buttons of the one before it are removed."""
        self.message_id = None
        await self.show(screen)

    async def remove_question_buttons(self) -> None:
        """Remove the buttons of the open question: it was answered, and what follows is no question."""
        stale = self.chat.question_message_id
        self._change_chat(replace(self.chat, question_message_id=None))
        if stale is not None:
            await self.services.messenger.edit_keyboard(self.chat_id, stale, (), priority="talk")

    async def update(self, screen: Screen) -> None:
        """Update an order's message in its place. It is no question, so its buttons stay."""
        screen = self._with_notice(screen)
        if self.message_id is None or not await self._edit(self.message_id, screen):
            await self._send(screen)

    async def post(self, screen: Screen) -> int | None:
        """Send an order's message as a new one, and return its id where it was surely sent. Its buttons stay."""
        return _message_id(await self.send(screen))

    async def send(self, screen: Screen) -> Outcome:
        """Send an order's message as a new one, and return the outcome. Its buttons stay."""
        return await self._send(self._with_notice(screen))

    async def post_picture(self, png: bytes, caption: str, keyboard: Keyboard) -> bool:
        """Send a picture as a new message, and return whether it was surely sent."""
        messenger = self.services.messenger
        sent = await _with_retries(lambda: messenger.send_photo(self.chat_id, png, caption, keyboard, priority="talk"))
        return isinstance(sent, Delivered)

    def _with_notice(self, screen: Screen) -> Screen:
        """Return the screen with the notice before its text. The notice is used up."""
        notice, self.notice = self.notice, None
        return screen if notice is None else replace(screen, text=f"{notice}\n\n{screen.text}")

    async def _edit(self, message_id: int, screen: Screen) -> bool:
        edited = await _with_retries(lambda: self._edited(message_id, screen))
        return not isinstance(edited, Gone | Invalid)

    async def _send(self, screen: Screen) -> Outcome:
        return await _with_retries(lambda: self._sent(screen))

    def _edited(self, message_id: int, screen: Screen) -> Awaitable[Outcome]:
        messenger, photo, shown = self.services.messenger, screen.photo, (screen.text, screen.keyboard)
        if photo is not None:
            return messenger.edit_photo(self.chat_id, message_id, photo, *shown, priority="talk")
        return messenger.edit_text(self.chat_id, message_id, *shown, priority="talk")

    def _sent(self, screen: Screen) -> Awaitable[Outcome]:
        messenger, photo, shown = self.services.messenger, screen.photo, (screen.text, screen.keyboard)
        if photo is not None:
            return messenger.send_photo(self.chat_id, photo, *shown, priority="talk")
        return messenger.send_text(self.chat_id, *shown, priority="talk")


def _message_id(sent: Outcome) -> int | None:
    return sent.message_id if isinstance(sent, Delivered) else None


async def _with_retries(call: Callable[[], Awaitable[Outcome]]) -> Outcome:
    for pause in islice(RETRY_PAUSES.waits(), RETRIES):
        outcome = await call()
        if not isinstance(outcome, TryLater):
            return outcome
        await asyncio.sleep(pause)
    return await call()


SESSION: ContextVar[Session] = ContextVar("session")
"""The session of the update that this task handles; set before the update goes through the handlers."""


def current_session() -> Session:
    """Return the session of the update that is being handled, for PTB's callbacks."""
    return SESSION.get()


def as_handler(
    action: "Callable[[Session, Update], Awaitable[object]]",
) -> "Callable[[Update, Context], Coroutine[Any, Any, None]]":
    """Return PTB's callback for an action on the session. No other handler is asked after it."""

    async def callback(update: Update, _: Context) -> None:
        await action(current_session(), update)
        raise ApplicationHandlerStop

    return callback

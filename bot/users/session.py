"""The session of an update: its user, their language and time zone, and the ways to answer."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from telegram import Message, Update
from telegram.ext import ApplicationHandlerStop

from bot.core.backoff import Backoff
from bot.core.errors import Rejection
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.inbound.attempts import Attempt
from bot.infra.telegram.inbound.model import ChatState
from bot.infra.telegram.inbound.repository import InboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, NotModified, Outcome, TryLater
from bot.infra.telegram.ui.formatting import format_arguments
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.router import Context
from bot.infra.telegram.ui.screen import Keyboard, Screen
from bot.users.model import HANDLED_BY_QUESTION, User
from bot.users.repository import UserRepository

if TYPE_CHECKING:
    from bot.infra.hooks import OpenConversation

V = TypeVar("V")

RETRY_PAUSES: Final = Backoff(first=1.0, longest=3.0, factor=3.0)
"""Seconds before the next attempt at a message.

A message that may have arrived is sent again, too. A repeated question does no harm, but a missing one leaves the user
waiting.
"""

RETRIES: Final = 2


class NoConversation:
    """What a bot without a conversation answers."""

    def add_resume_button(self, _: "Session", screen: Screen) -> Screen:
        """Return the screen as it is."""
        return screen

    async def explain(self, session: "Session", key: str) -> None:
        """Answer the button with the text of the key."""
        await session.acknowledge(session.t.plain(key))

    async def show_question(self, _: "Session") -> bool:
        """Return that no question is open."""
        return False

    def is_open(self, _: "Session") -> bool:
        """Return that no question is open."""
        return False

    async def report_damage(self, session: "Session") -> None:
        """Say that the update can't be handled."""
        await session.show_below(Screen(session.t("users.chat.broken")))


NO_CONVERSATION: Final = NoConversation()


@dataclass(frozen=True, eq=False)
class SessionKey(Generic[V]):
    """The key of a value that a feature loads for each update, such as the open draft: `session[DRAFT]`.

    `default` is its value for an update for which nothing was loaded.
    """

    name: str
    default: V


@dataclass(slots=True, kw_only=True)
class Session:
    """One update of one user, and the ways to answer it."""

    infra: Infra
    user: User
    t: Translator
    update_id: int
    chat: ChatState
    """The state of the private chat's buttons. It is saved when the update is finished."""
    attempt: Attempt | None = None
    is_private: bool = True
    """Whether the update comes from the user's private chat with the bot, not from a group."""
    is_operator: bool = False
    """Whether the user is an operator. Each update checks it, so an old button gives no rights."""
    damage: RowUnreadable | None = None
    """The error if a row that every update needs can't be read. Such an update is only answered with it."""
    message_id: int | None = None
    has_text: bool = False
    """Whether the pressed message has text that another screen can replace. A picture has none."""
    pressed: Message | None = None
    """The message with the pressed button, or None if Telegram doesn't send it."""
    typed: Message | None = None
    """The new message of a private chat that this update is."""
    query_id: str | None = None
    """The id of the button press, until it is answered."""
    notice: Html | None = None
    """The first paragraph of the next message."""
    failure: Exception | None = None
    """Why the update has to be handled again."""
    has_new_profile: bool = False
    """Whether the user is new, or has changed since they were saved."""
    blocked_since: datetime | None = None
    """When the user blocked the bot. It is set in the first update after they unblocked it."""
    handled_by: str | None = None
    """What handled this update before, in an attempt that failed (`HANDLED_BY_…`)."""
    state: dict["SessionKey[Any]", Any] = field(default_factory=dict)

    @property
    def now(self) -> datetime:
        """The current time in UTC."""
        return self.infra.clock.now()

    def __getitem__(self, key: "SessionKey[V]") -> V:
        """Return the value that a feature has loaded for this update, or the default."""
        value: V = self.state.get(key, key.default)
        return value

    def __setitem__(self, key: "SessionKey[V]", value: V) -> None:
        """Keep a feature's value until the end of this update."""
        self.state[key] = value

    @property
    def is_newest_question(self) -> bool:
        """Whether the pressed message is the chat's newest question."""
        return self.message_id is not None and self.chat.question_message_id == self.message_id

    def is_double_tap(self, button: str) -> bool:
        """Return whether the same button was answered in this chat moments ago."""
        return self.chat.is_double_tap(button, self.now)

    def record_tap(self, button: str) -> None:
        """Record that the action of a button was done."""
        self._change_chat(self.chat.with_tap(button, self.now))

    def _change_chat(self, chat: ChatState) -> None:
        if chat != self.chat:
            self.chat = chat
            if self.attempt is not None:
                self.attempt.chat, self.attempt.on_finish = chat, self._save_state

    def save_profile_later(self) -> None:
        """Save what Telegram says of the user, and that they were seen, when the update is finished."""
        self.has_new_profile = True
        if self.attempt is not None:
            self.attempt.on_finish = self._save_state

    async def _save_state(self, tx: Transaction) -> None:
        if self.has_new_profile:
            await UserRepository(tx).save_profile(self.user)
        await UserRepository(tx).save_chat(self.chat)

    async def save_user(self, user: User) -> None:
        """Save `user`, and make them the user of this session."""
        self.user = user
        async with self.infra.database.transaction() as tx:
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
        """The language, time zone and time for the screens of this update."""
        return Reader(self.t, self.zone, self.now)

    async def reader_who_knows(self, *user_ids: int | None) -> Reader:
        """Return the reader with the names of these users. For members of staff only."""
        return replace(self.reader, names=await self.infra.messenger.names.find(user_ids))

    @property
    def conversation(self) -> "OpenConversation[Session]":
        """The conversation that the screens of other features lead back to."""
        declared = (feature.conversation for feature in self.infra.features)
        return next((each for each in declared if each is not None), NO_CONVERSATION)

    @property
    def is_in_conversation(self) -> bool:
        """Whether a question of the conversation is open."""
        return self.conversation.is_open(self)

    @property
    def is_answered(self) -> bool:
        """Whether this update answered a question before, in an attempt that crashed or failed."""
        return self.user.answered_update_id == self.update_id or self.handled_by == HANDLED_BY_QUESTION

    async def is_overtaken(self) -> bool:
        """Return whether a later update of this chat was received before this one."""
        if self.attempt is None:
            return False
        async with self.infra.database.reading() as tx:
            return await InboxRepository(tx).is_overtaken(self.attempt.item)

    def format_rejection(self, rejection: Rejection) -> Html:
        """Return the reason of a rejection, in the user's language and time zone."""
        return self.t(rejection.key, **format_arguments(self.t, rejection, self.infra.clock.now(), self.zone))

    def with_resume(self, screen: Screen) -> Screen:
        """Return `screen` with a button back to the conversation's open question, if there is one."""
        return self.conversation.add_resume_button(self, screen)

    async def report_damage(self) -> None:
        """Say that the open question of the conversation can't be read, and close it."""
        await self.conversation.report_damage(self)

    async def show_question(self) -> bool:
        """Show the conversation's open question, and return whether there is one."""
        return await self.conversation.show_question(self)

    async def explain(self, key: str) -> None:
        """Answer a button that no longer works, and show the open question, or how to begin."""
        await self.conversation.explain(self, key)

    def discard(self) -> None:
        """Discard what was loaded for this update, so that no data of a deleted user is saved again."""
        self.blocked_since, self.has_new_profile = None, False
        self.state.clear()

    async def acknowledge(self, text: str | None = None, *, alert: bool = False) -> None:
        """Answer the button press, unless it was answered. Call it before any work."""
        if self.query_id is not None:
            query_id, self.query_id = self.query_id, None
            await self.infra.messenger.answer_press(query_id, text, alert=alert)

    # `show` and `show_below` show the chat's screen: only its buttons work, and the screen before loses its own.
    # `edit_message` and `send_message` are for messages that stay, such as an order's. They touch no other buttons.

    async def show(self, screen: Screen, *, in_question: bool = False) -> None:
        """Show the chat's screen in place of the pressed message. After typed text, it is a new message.

        With `in_question`, it replaces the question that the typed text has answered.
        """
        screen = self._with_notice(screen)
        answered = self.chat.question_message_id if in_question and self.message_id is None else None
        if answered is not None and await self._replace(answered, screen):
            self.message_id = answered
            return
        in_place = self.message_id is not None and await self._edit(self.message_id, screen)
        message_id = self.message_id if in_place else _message_id(await self._send(screen))
        stale = self.chat.question_message_id
        self._change_chat(replace(self.chat, question_message_id=message_id if screen.keyboard else None))
        if stale not in {None, message_id}:
            await self.infra.messenger.edit_keyboard(self.chat_id, stale, (), priority="talk")

    async def show_below(self, screen: Screen) -> None:
        """Show the chat's screen as a new message. The one before loses its buttons."""
        self.message_id = None
        await self.show(screen)

    async def remove_question_buttons(self) -> None:
        """Remove the buttons of the open question, which was answered and isn't followed by another."""
        stale = self.chat.question_message_id
        self._change_chat(replace(self.chat, question_message_id=None))
        if stale is not None:
            await self.infra.messenger.edit_keyboard(self.chat_id, stale, (), priority="talk")

    async def edit_message(self, screen: Screen) -> None:
        """Edit the pressed message, which stays and isn't a question. If it is gone, send a new one."""
        screen = self._with_notice(screen)
        if self.message_id is None or not await self._edit(self.message_id, screen):
            await self._send(screen)

    async def send_message(self, screen: Screen) -> Outcome:
        """Send a message that stays and isn't a question, below all others. Return the outcome."""
        return await self._send(self._with_notice(screen))

    async def send_picture(self, png: bytes, caption: str, keyboard: Keyboard) -> bool:
        """Send a picture that stays, below all other messages. Return whether it was certainly sent."""
        messenger = self.infra.messenger
        sent = await _with_retries(lambda: messenger.send_photo(self.chat_id, png, caption, keyboard, priority="talk"))
        return isinstance(sent, Delivered)

    async def send_file(self, content: bytes, name: str, caption: str) -> bool:
        """Send a file that stays, below all other messages. Return whether it was certainly sent."""
        sent = await self.infra.messenger.send_document(self.chat_id, content, name, caption, priority="talk")
        return isinstance(sent, Delivered)

    def _with_notice(self, screen: Screen) -> Screen:
        """Return the screen with the notice before its text, and clear the notice."""
        notice, self.notice = self.notice, None
        return screen if notice is None else replace(screen, text=f"{notice}\n\n{screen.text}")

    async def _replace(self, message_id: int, screen: Screen) -> bool:
        """Edit a message, and return whether it changed. A user who typed must see an answer."""
        tries = 0

        async def edit() -> Outcome:
            nonlocal tries
            tries += 1
            return await self._edited(message_id, screen)

        edited = await _with_retries(edit)
        # After an attempt without an answer, the message is as it should be because that attempt arrived.
        return isinstance(edited, Delivered) or (isinstance(edited, NotModified) and tries > 1)

    async def _edit(self, message_id: int, screen: Screen) -> bool:
        edited = await _with_retries(lambda: self._edited(message_id, screen))
        return not isinstance(edited, Gone | Invalid)

    async def _send(self, screen: Screen) -> Outcome:
        return await _with_retries(lambda: self._sent(screen))

    def _edited(self, message_id: int, screen: Screen) -> Awaitable[Outcome]:
        messenger, photo, shown = self.infra.messenger, screen.photo, (screen.text, screen.keyboard)
        if photo is not None:
            return messenger.edit_photo(self.chat_id, message_id, photo, *shown, priority="talk")
        return messenger.edit_text(self.chat_id, message_id, *shown, priority="talk")

    def _sent(self, screen: Screen) -> Awaitable[Outcome]:
        messenger, photo, shown = self.infra.messenger, screen.photo, (screen.text, screen.keyboard)
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
"""The session of the update that this task handles. It is set before the handlers run."""


def current_session() -> Session:
    """Return the session of the update that this task handles. PTB's callbacks need it."""
    return SESSION.get()


def as_handler(
    action: "Callable[[Session, Update], Awaitable[object]]",
) -> "Callable[[Update, Context], Coroutine[Any, Any, None]]":
    """Return PTB's callback for an action on the session. No other handler runs after it."""

    async def callback(update: Update, _: Context) -> None:
        await action(current_session(), update)
        raise ApplicationHandlerStop

    return callback

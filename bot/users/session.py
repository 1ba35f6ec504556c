"""The session of an update: its user, their language and time zone, and the ways to answer. Also how it is loaded."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from itertools import islice
from typing import Any, Final, Generic, Protocol, TypeVar

from telegram import CallbackQuery, Chat, Message, Update
from telegram import User as TelegramUser

from bot.core.backoff import Backoff
from bot.core.errors import Rejection
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.i18n import Html, Translator, choose_locale, translator_for
from bot.infra.telegram.inbound.attempts import CURRENT_ATTEMPT, Attempt
from bot.infra.telegram.inbound.model import ChatState
from bot.infra.telegram.inbound.repository import InboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, Outcome, TryLater
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Keyboard, Screen
from bot.users.model import HANDLED_BY_QUESTION, User, UserEvent
from bot.users.phrase import Suggestion, draw_suggestion, find_suggestion_text
from bot.users.repository import UserRepository, record_user_event

V = TypeVar("V")

RETRY_PAUSES: Final = Backoff(first=1.0, longest=3.0, factor=3.0)
"""Seconds before the next attempt at a message.

A message that may have arrived is sent again, too. A repeated question does no harm, but a missing one leaves the user
waiting.
"""

RETRIES: Final = 2


class Conversation(Protocol):
    """The conversation, for features that can be opened in the middle of it."""

    def add_resume_button(self, session: "Session", screen: Screen) -> Screen:
        """Return the screen with a button back to the open question, if there is one."""

    async def explain(self, session: "Session", key: str) -> None:
        """Answer a button that no longer works with the text of a key, and show the open question."""

    async def show_question(self, session: "Session") -> bool:
        """Show the open question, and return whether there is one."""

    def is_open(self, session: "Session") -> bool:
        """Return whether a question is open."""

    async def report_damage(self, session: "Session") -> None:
        """Say that the open draft can't be read, and close it."""


MakeStart = Callable[["Session"], Awaitable[Screen]]
"""Returns the welcome, or what members of staff see in place of it."""


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
    conversation: Conversation
    """The conversation that the screens of all features lead back to."""
    make_start: MakeStart
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

    async def suggest_phrase(self, *, is_new: bool = False) -> Suggestion:
        """Return the phrase that is suggested to the user, in the language in which it was drawn first.

        It stays the same until they ask for another (`is_new`) or choose another language. It is saved, because it is
        on the first invoice of a user who chooses no phrase.
        """
        suggested = self.user.suggested_phrase
        text = None if is_new else find_suggestion_text(suggested or "")
        if text is not None and suggested is not None:
            return Suggestion(suggested, text)
        suggestion = draw_suggestion(self.t.locale)
        await self.save_user(replace(self.user, suggested_phrase=suggestion.code))
        return suggestion

    async def find_new_phrase(self) -> str | None:
        """Return the phrase that the next order gives to a user who has chosen none. None for other users."""
        return (await self.suggest_phrase()).text if self.user.phrase is None else None

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
        return self.reader.format_rejection(rejection)

    def with_resume(self, screen: Screen) -> Screen:
        """Return `screen` with a button back to the conversation's open question, if there is one."""
        return self.conversation.add_resume_button(self, screen)

    async def show_start(self) -> None:
        """Show the start, for a user for whom there is nothing else to show."""
        await self.show(self.with_resume(await self.make_start(self)))

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

    # `show`, `ask` and `show_below` show the chat's screen: only its buttons work. The screen before loses its own, or
    # goes if it only asked: what is asked now is always the last thing in the chat, below what was typed.
    # `edit_message` and `send_message` are for messages that stay, such as an order's. They touch no other messages.

    async def show(self, screen: Screen, *, can_go: bool = False) -> None:
        """Show the chat's screen in place of the pressed message. After typed text, it is a new message."""
        screen = self._with_notice(screen)
        in_place = self.message_id is not None and await self._edit(self.message_id, screen)
        message_id = self.message_id if in_place else _message_id(await self._send(screen))
        if message_id is None:  # the one before is all that the user has
            self._change_chat(replace(self.chat, question_can_go=False))
        await self._replace_question(message_id, is_open=can_go or bool(screen.keyboard), can_go=can_go)

    async def ask(self, screen: Screen) -> None:
        """Show a question as the chat's screen. It tells nothing that has to stay: it goes when another follows."""
        await self.show(screen, can_go=True)

    async def show_below(self, screen: Screen) -> None:
        """Show the chat's screen as a new message. The one before loses its buttons."""
        self.message_id = None
        await self.show(screen)

    async def remove_question(self) -> None:
        """Remove the open question, which was answered and isn't followed by another, or its buttons."""
        await self._replace_question(None, is_open=False)

    async def _replace_question(self, message_id: int | None, *, is_open: bool, can_go: bool = False) -> None:
        """Note the message of the chat's screen. The one before goes if it can, else it loses its buttons."""
        before, messenger = self.chat, self.infra.messenger
        kept = message_id if is_open else None
        self._change_chat(replace(before, question_message_id=kept, question_can_go=can_go))
        stale = before.question_message_id
        if stale is None or stale == message_id:
            return
        if before.question_can_go:
            if await messenger.delete(self.chat_id, stale, priority="talk") == Delivered():
                return
            # It can have a whole number in it.
            await messenger.edit_text(self.chat_id, stale, self.t("users.chat.replaced"), (), priority="talk")
        await messenger.edit_keyboard(self.chat_id, stale, (), priority="talk")

    async def edit_message(self, screen: Screen) -> None:
        """Edit the pressed message, which stays and isn't a question. If it is gone, send a new one."""
        screen = self._with_notice(screen)
        await self.keep_pressed(screen)
        if self.message_id is None or not await self._edit(self.message_id, screen):
            await self._send(screen)

    async def keep_pressed(self, screen: Screen) -> None:
        """Note that the pressed message shows a screen that stays, also if it only asked before.

        A review is one whose Confirm is handled again after a crash.
        """
        if self.is_newest_question:
            await self._replace_question(self.message_id, is_open=bool(screen.keyboard))

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

    def add_notice(self, *lines: Html | None) -> None:
        """Add these lines to the notice. Those that are None are left out."""
        self.notice = Html("\n".join(filter(None, (self.notice, *lines)))) or None

    def _with_notice(self, screen: Screen) -> Screen:
        """Return the screen with the notice before its text, and clear the notice."""
        notice, self.notice = self.notice, None
        return screen if notice is None else replace(screen, text=f"{notice}\n\n{screen.text}")

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


SAVE_SEEN_EVERY: Final = timedelta(days=1)
"""How often the time a user was last seen is saved. Once a day is enough to count active users."""

LoadMore = Callable[[Transaction, Session], Awaitable[None]]
"""Loads more that an update needs into `session[KEY]`, in the transaction that reads the user."""


class SessionLoader:
    """Load and finish sessions."""

    def __init__(self, infra: Infra, *, operator_ids: frozenset[int] = frozenset()) -> None:
        self._infra = infra
        self._operator_ids = operator_ids
        self._conversation: Conversation
        self._make_start: MakeStart

    def lead_back_to(self, conversation: Conversation, make_start: MakeStart) -> None:
        """Set what the screens of all features lead back to. Both are above users, so `bot/app.py` calls it once."""
        self._conversation, self._make_start = conversation, make_start

    async def load(self, update: Update, more: Iterable[LoadMore] = ()) -> Session | None:
        """Return the session of an update with `more` for it, or None if no user caused it.

        An anonymous admin of a group is an unknown user, who has no rights.
        """
        sender, chat = update.effective_user, update.effective_chat
        if sender is None or chat is None or (sender.is_bot and not is_anonymous(update.message)):
            return None
        async with self._infra.database.reading() as tx:
            known = await UserRepository(tx).get(sender.id)
            current = _with_profile(known, sender, self._infra.clock.now())
            session = self._session(update, current, chat)
            for load in more:
                await load(tx, session)
        if session.is_private and current != known:
            session.save_profile_later()
        return session

    async def answer_press(self, query: CallbackQuery) -> None:
        """Answer a press on a message that Telegram doesn't show to the bot. It does nothing."""
        t = self._infra.translations.get(choose_locale(None, query.from_user.language_code))
        await self._infra.messenger.answer_press(query.id, t.plain("users.stale.button"))

    async def open(self, user_id: int, update_id: int) -> Session | None:
        """Return a session for a job in a user's private chat, or None if the user is unknown or blocked the bot.

        `update_id` is the update that the job belongs to.
        """
        async with self._infra.database.reading() as tx:
            user = await UserRepository(tx).get(user_id)
        if user is None or user.blocked_at is not None:
            return None
        return Session(
            infra=self._infra,
            conversation=self._conversation,
            make_start=self._make_start,
            user=user,
            t=translator_for(self._infra.translations, user),
            update_id=update_id,
            chat=user.chat or ChatState(user_id=user.id),
            has_text=True,
            is_operator=user.id in self._operator_ids,
        )

    async def save_chat(self, session: Session) -> None:
        """Save the state of the chat that a job has changed. For an update, the inbox does it."""
        if session.chat != session.user.chat:
            async with self._infra.database.transaction() as tx:
                await UserRepository(tx).save_chat(session.chat)

    async def finish(self, session: Session) -> None:
        """Save that a user who had blocked the bot is back."""
        if session.blocked_since is None:
            return
        session.user = replace(session.user, blocked_at=None)
        async with self._infra.database.transaction() as tx:
            await UserRepository(tx).save(session.user)
            await record_user_event(tx, session.user.id, UserEvent.CAME_BACK, session.now)

    def _session(self, update: Update, user: User, chat: Chat) -> Session:
        query = update.callback_query
        message = query.message if query else None
        is_private, attempt = chat.type == Chat.PRIVATE, CURRENT_ATTEMPT.get()
        shown_before = None if attempt is None else attempt.chat
        return Session(
            infra=self._infra,
            conversation=self._conversation,
            make_start=self._make_start,
            user=user,
            t=translator_for(self._infra.translations, user),
            update_id=update.update_id,
            chat=shown_before or user.chat or ChatState(user_id=user.id),
            attempt=attempt,
            is_private=is_private,
            is_operator=user.id in self._operator_ids,
            message_id=message.message_id if message else None,
            has_text=bool(getattr(message, "text", None)),
            pressed=message if isinstance(message, Message) else None,
            typed=update.message if is_private else None,
            query_id=query.id if query else None,
            blocked_since=user.blocked_at if is_private else None,
            handled_by=None if attempt is None else attempt.item.handled_by,
        )


def is_anonymous(message: Message | None) -> bool:
    """Return whether an admin of a group wrote the message in the group's name."""
    return message is not None and message.sender_chat is not None and message.sender_chat.id == message.chat_id


def _with_profile(known: User | None, sender: TelegramUser, now: datetime) -> User:
    """Return the user with their current language and public name, and with a new last-seen time once a day."""
    username = sender.username.lower() if sender.username else None
    if known is None:
        # The phrase is on the first invoice, unless they choose another one.
        suggestion = draw_suggestion(choose_locale(None, sender.language_code))
        known = User(id=sender.id, created_at=now, suggested_phrase=suggestion.code)
    current = replace(known, language_code=sender.language_code, username=username)
    is_long_ago = current.last_seen_at is None or now - current.last_seen_at > SAVE_SEEN_EVERY
    return replace(current, last_seen_at=now) if current != known or is_long_ago else current

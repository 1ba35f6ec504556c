"""Load the session of each update, and finish it after the update was handled."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from telegram import CallbackQuery, Chat, Message, Update
from telegram import User as TelegramUser

from bot.infra.feature import Infra
from bot.infra.i18n import choose_locale, translator_for
from bot.infra.telegram.inbound.attempts import CURRENT_ATTEMPT
from bot.infra.telegram.inbound.model import ChatState
from bot.users.model import User, UserEvent
from bot.users.phrase import draw_suggestion
from bot.users.repository import UserRepository, record_user_event
from bot.users.session import Session

SAVE_SEEN_EVERY: Final = timedelta(days=1)
"""How often the time a user was last seen is saved. Once a day is enough to count active users."""


class SessionLoader:
    """Load and finish sessions, with what features declare for it (`Feature.on_load`, `Feature.after_update`)."""

    def __init__(self, infra: Infra, *, operator_ids: frozenset[int] = frozenset()) -> None:
        self._infra = infra
        self._operator_ids = operator_ids

    async def load(self, update: Update) -> Session | None:
        """Return the session of an update, or None if no user caused it.

        An anonymous admin of a group is an unknown user, who has no rights.
        """
        sender, chat = update.effective_user, update.effective_chat
        if sender is None or chat is None or (sender.is_bot and not is_anonymous(update.message)):
            return None
        async with self._infra.database.reading() as tx:
            known = await UserRepository(tx).get(sender.id)
            current = _with_profile(known, sender, self._infra.clock.now())
            session = self._session(update, current, chat)
            for feature in self._infra.features:
                for load in feature.on_load:
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
        """Run the hooks after an update was handled, and save that a user who had blocked the bot is back."""
        now = session.now
        for feature in self._infra.features:
            for finish in feature.after_update:
                await finish(session)
        if session.blocked_since is None:
            return
        session.user = replace(session.user, blocked_at=None)
        async with self._infra.database.transaction() as tx:
            await UserRepository(tx).save(session.user)
            await record_user_event(tx, session.user.id, UserEvent.CAME_BACK, now)

    def _session(self, update: Update, user: User, chat: Chat) -> Session:
        query = update.callback_query
        message = query.message if query else None
        is_private, attempt = chat.type == Chat.PRIVATE, CURRENT_ATTEMPT.get()
        shown_before = None if attempt is None else attempt.chat
        return Session(
            infra=self._infra,
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

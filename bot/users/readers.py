"""The context in which a notification is rendered: its reader, and the means to send it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import wraps
from typing import Any
from zoneinfo import ZoneInfo

from bot.core.zones import PRESUMED
from bot.infra.db.database import Database
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.i18n import Translator, translator_for
from bot.infra.outbox.model import DeliveryOutcome, Notification, Sent
from bot.infra.outbox.rendering import AnyRender, ReadFacts, Render, delivery_outcome, with_repeat_note
from bot.infra.telegram.outbound.sender import Messenger, Priority
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.users.model import User
from bot.users.repository import GroupRepository, UserRepository


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderContext:
    """What a renderer needs to send one notification.

    `user` is None if the reader is unknown, or if their row can't be read.
    """

    user: User | None
    t: Translator
    zone: ZoneInfo
    now: datetime
    database: Database
    messenger: Messenger

    @property
    def reader(self) -> Reader:
        """The language, time zone and time for the screens."""
        return Reader(self.t, self.zone, self.now)

    async def reader_who_knows(self, *user_ids: int | None) -> Reader:
        """Return the reader with the names of these users. For messages to staff only."""
        return replace(self.reader, names=await self.messenger.names.find(user_ids))

    async def send_text(
        self,
        notification: Notification[object],
        screen: Screen,
        *,
        priority: Priority,
        silent: bool = False,
        reply_to: int | None = None,
        topic_id: int | None = None,
    ) -> DeliveryOutcome:
        """Send a notification as a new message, and return the outcome."""
        return delivery_outcome(
            await self.messenger.send_text(
                notification.chat_id,
                with_repeat_note(notification, self.t, screen.text),
                screen.keyboard,
                priority=priority,
                silent=silent,
                reply_to=reply_to,
                topic_id=topic_id,
            )
        )


Renderer = AnyRender[RenderContext]
Show = Callable[[Notification[Any], RenderContext], Awaitable[Screen | None]]


def as_message(show: Show, *, priority: Priority, silent: bool = False) -> Render[RenderContext]:
    """Return the renderer that sends what `show` returns as a new message. None sends nothing."""

    @wraps(show)
    async def render(notification: Notification[Any], context: RenderContext) -> DeliveryOutcome:
        screen = await show(notification, context)
        if screen is None:
            return Sent()
        return await context.send_text(notification, screen, priority=priority, silent=silent)

    return render


class RenderContexts:
    """Build the contexts in which notifications are rendered.

    Groups read in the language that their members chose, or in the default one.
    """

    def __init__(self, infra: Infra) -> None:
        self._infra = infra

    async def open(self, chat_id: int, read: ReadFacts | None = None) -> tuple[RenderContext, Any]:
        """Return the context for messages to a chat, and what `read` returns. A private chat has the id of its user.

        Both are one transaction.

        Raises:
            RowUnreadable: another process can read the user's row, with their language and their phrase.
        """
        async with self._infra.database.reading() as tx:
            user = await _read_user(tx, chat_id)
            locale = await _read_group_locale(tx, chat_id)
            facts = await read(tx) if read is not None else None
        context = RenderContext(
            user=user,
            t=self._translator(chat_id, user, locale),
            zone=user.zone if user else PRESUMED,
            now=self._infra.clock.now(),
            database=self._infra.database,
            messenger=self._infra.messenger,
        )
        return context, facts

    async def translator_for(self, chat_id: int) -> Translator:
        """Return the translator for the language of a chat."""
        async with self._infra.database.reading() as tx:
            user = await UserRepository(tx).get_if_readable(chat_id)
            locale = await _read_group_locale(tx, chat_id)
        return self._translator(chat_id, user, locale)

    def _translator(self, chat_id: int, user: User | None, group_locale: str | None) -> Translator:
        """Return the translator for a user, or for a group, whose id is negative."""
        translations = self._infra.translations
        if user is None and chat_id < 0:
            return translations.get(group_locale or self._infra.default_locale)
        return translator_for(translations, user)


async def _read_group_locale(tx: Transaction, chat_id: int) -> str | None:
    return await GroupRepository(tx).get_locale(chat_id) if chat_id < 0 else None


async def _read_user(tx: Transaction, chat_id: int) -> User | None:
    try:
        return await UserRepository(tx).get(chat_id)
    except RowUnreadable as error:
        if error.is_unknown:
            raise
        return None

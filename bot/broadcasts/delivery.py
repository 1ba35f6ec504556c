"""A broadcast in Telegram: brought to one person, and shown to its operator while it goes on, in one live message."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from bot.broadcasts.message import draw_picture
from bot.broadcasts.model import Broadcast, Delivery
from bot.broadcasts.run import Progress
from bot.broadcasts.screens import progress as broadcast_progress
from bot.broadcasts.screens.text import keyboard_of, text_of
from bot.core.zones import PRESUMED
from bot.infra.db.database import Database
from bot.infra.i18n import Translations, translator_for
from bot.infra.outbox.model import DeliveryOutcome
from bot.infra.outbox.rendering import kept
from bot.infra.telegram.outbound.limiter import LEAVES
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, Messenger, TryLater
from bot.infra.telegram.ui.screen import Keyboard
from bot.rates.charts import Charts
from bot.users.model import Person
from bot.users.repository import UserRepository

MESSAGES_KEPT: Final = 8


@dataclass(slots=True)
class _Message:
    """What a broadcast says in one language; `picture` is a file's id as soon as Telegram has it."""

    text: str
    keyboard: Keyboard
    picture: str | bytes | None
    uploading: asyncio.Lock = field(default_factory=asyncio.Lock)


class ChatCourier:
    """Sends in bulk, after everything else (the `Courier` of deliveries).

    Args:
        messenger: sends.
        translations: every language.
        charts: draws the rate, where that is the broadcast's picture.
        paid: pay for each message above Telegram's free pace (`allow_paid_broadcast`).
    """

    def __init__(self, messenger: Messenger, translations: Translations, charts: Charts, *, paid: bool) -> None:
        self._messenger = messenger
        self._translations = translations
        self._charts = charts
        self._paid = paid
        self._messages: OrderedDict[tuple[str, str], asyncio.Task[_Message]] = OrderedDict()

    async def bring(self, broadcast: Broadcast, delivery: Delivery, leaves: Callable[[], None]) -> DeliveryOutcome:
        """One attempt."""
        message = await self._message(broadcast, delivery.locale)
        LEAVES.set(leaves)  # in this delivery's own task
        if not isinstance(message.picture, bytes):
            return await self._send(delivery, message)
        # The first one takes the picture to Telegram, and the others wait for its id.
        async with message.uploading:
            if isinstance(message.picture, bytes):
                return await self._send(delivery, message)
        return await self._send(delivery, message)

    async def _send(self, delivery: Delivery, message: _Message) -> DeliveryOutcome:
        sent = await self._messenger.mailing.send(
            delivery.person_id,
            message.text,
            message.keyboard,
            message.picture,
            paid=self._paid,
            silent=delivery.silent,
        )
        if isinstance(sent, Delivered) and sent.photo_id:
            message.picture = sent.photo_id
        return kept(sent)

    async def _message(self, broadcast: Broadcast, locale: str) -> _Message:
        """Made once for each language: a broadcast that has begun says the same to all."""
        key = broadcast.id, locale
        task = self._messages.get(key)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = self._messages[key] = asyncio.create_task(self._make(broadcast, locale))
            while len(self._messages) > MESSAGES_KEPT:
                self._messages.popitem(last=False)
        # One delivery's cancellation must not take the message from the others.
        return await asyncio.shield(task)

    async def _make(self, broadcast: Broadcast, locale: str) -> _Message:
        t = self._translations.get(locale)
        return _Message(text_of(broadcast, t), keyboard_of(t), await draw_picture(broadcast, t, self._charts))


class LiveMessages:
    """The one message that shows an operator how far a broadcast is."""

    def __init__(self, store: Database, messenger: Messenger, translations: Translations, default_locale: str) -> None:
        self._store = store
        self._messenger = messenger
        self._translations = translations
        self._default_locale = default_locale

    async def show(self, progress: Progress) -> int | None:
        """Bring it up to date, or send it: the id of the message that shows it now.

        0 where the operator can't be reached any more, None where it couldn't be shown just now.
        """
        broadcast = progress.broadcast
        chat_id = broadcast.chat_id or broadcast.operator_id
        reader = await self._reader(chat_id)
        t = translator_for(self._translations, reader, self._default_locale)
        screen = broadcast_progress.screen(t, progress, reader.zone if reader else PRESUMED)
        if broadcast.message_id is not None:
            edited = await self._messenger.edit_text(
                chat_id, broadcast.message_id, screen.text, screen.keyboard, lane="talk"
            )
            if not isinstance(edited, Gone | Invalid):
                return None if isinstance(edited, TryLater) else broadcast.message_id
        sent = await self._messenger.send_text(chat_id, screen.text, screen.keyboard, lane="talk")
        if isinstance(sent, TryLater):
            return None
        return (sent.message_id or 0) if isinstance(sent, Delivered) else 0

    async def _reader(self, chat_id: int) -> Person | None:
        async with self._store.reading() as tx:
            return await UserRepository(tx).get_if_readable(chat_id)

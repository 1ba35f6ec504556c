"""Telegram messages of broadcasts: to readers, as a preview to operators, and the live message of a run."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from bot.broadcasts.model import Broadcast, Delivery
from bot.broadcasts.run import Progress
from bot.broadcasts.screens import progress as progress_screens
from bot.broadcasts.screens.text import build_keyboard, render_text
from bot.core.zones import PRESUMED
from bot.infra.db.database import Database
from bot.infra.i18n import Translations, Translator, translator_for
from bot.infra.outbox.model import DeliveryOutcome
from bot.infra.outbox.rendering import delivery_outcome
from bot.infra.telegram.outbound.limiter import ON_SEND
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, Messenger, Outcome, TryLater
from bot.infra.telegram.ui.screen import Keyboard
from bot.rates.charts import Charts
from bot.rates.history import ChartPeriod
from bot.users.model import User
from bot.users.repository import UserRepository

MAX_CACHED: Final = 8


@dataclass(slots=True)
class _Message:
    """A broadcast's message in one language. `picture` becomes a file id after the first upload."""

    text: str
    keyboard: Keyboard
    picture: str | bytes | None
    upload: asyncio.Lock = field(default_factory=asyncio.Lock)


class ChatBroadcastSender:
    """Send deliveries at the lowest priority.

    Args:
        messenger: sends messages.
        translations: all languages.
        charts: draws the rate, if the broadcast shows it.
        paid: whether to pay for each message above Telegram's free rate (`allow_paid_broadcast`).
    """

    def __init__(self, messenger: Messenger, translations: Translations, charts: Charts, *, paid: bool) -> None:
        self._messenger = messenger
        self._translations = translations
        self._charts = charts
        self._paid = paid
        self._messages: OrderedDict[tuple[str, str], asyncio.Task[_Message]] = OrderedDict()

    async def send(self, broadcast: Broadcast, delivery: Delivery, on_request: Callable[[], None]) -> DeliveryOutcome:
        """Make one attempt. `on_request` is called right before the request."""
        message = await self._message(broadcast, delivery.locale)
        ON_SEND.set(on_request)  # affects only the task of this delivery
        if not isinstance(message.picture, bytes):
            return await self._send(delivery, message)
        # The first delivery uploads the picture, and the others wait for its id.
        async with message.upload:
            if isinstance(message.picture, bytes):
                return await self._send(delivery, message)
        return await self._send(delivery, message)

    async def _send(self, delivery: Delivery, message: _Message) -> DeliveryOutcome:
        sent = await self._messenger.bulk.send(
            delivery.user_id,
            message.text,
            message.keyboard,
            message.picture,
            paid=self._paid,
            silent=delivery.silent,
        )
        if isinstance(sent, Delivered) and sent.photo_id:
            message.picture = sent.photo_id
        return delivery_outcome(sent)

    async def _message(self, broadcast: Broadcast, locale: str) -> _Message:
        """Return the message in one language. It is built once, because all readers get the same."""
        key = broadcast.id, locale
        task = self._messages.get(key)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = self._messages[key] = asyncio.create_task(self._make(broadcast, locale))
            while len(self._messages) > MAX_CACHED:
                self._messages.popitem(last=False)
        # Cancelling one delivery must not cancel the message for the others.
        return await asyncio.shield(task)

    async def _make(self, broadcast: Broadcast, locale: str) -> _Message:
        t = self._translations.get(locale)
        return _Message(render_text(broadcast, t), build_keyboard(t), await _draw_picture(broadcast, t, self._charts))


class BroadcastMessages:
    """Send a broadcast's messages to operators, as a preview."""

    def __init__(self, messenger: Messenger, translations: Translations, charts: Charts) -> None:
        self._messenger = messenger
        self._translations = translations
        self._charts = charts

    async def send(self, chat_id: int, broadcast: Broadcast, locale: str) -> Outcome:
        """Send a broadcast to one chat in one language, without a sound."""
        t = self._translations.get(locale)
        text, keyboard = render_text(broadcast, t), build_keyboard(t)
        picture = await _draw_picture(broadcast, t, self._charts)
        if picture is None:
            return await self._messenger.send_text(chat_id, text, keyboard, priority="talk", silent=True)
        return await self._messenger.send_photo(chat_id, picture, text, keyboard, priority="talk", silent=True)


class LiveMessages:
    """The messages that show operators the progress of broadcasts."""

    def __init__(self, database: Database, messenger: Messenger, translations: Translations) -> None:
        self._database = database
        self._messenger = messenger
        self._translations = translations

    async def show(self, progress: Progress) -> int | None:
        """Edit the message or send a new one, and return its id.

        Return 0 if the operator can't be reached, and None if the attempt should be repeated later.
        """
        broadcast = progress.broadcast
        chat_id = broadcast.chat_id or broadcast.operator_id
        user = await self._user(chat_id)
        t = translator_for(self._translations, user)
        screen = progress_screens.show_progress(t, progress, user.zone if user else PRESUMED)
        if broadcast.message_id is not None:
            edited = await self._messenger.edit_text(
                chat_id, broadcast.message_id, screen.text, screen.keyboard, priority="talk"
            )
            if not isinstance(edited, Gone | Invalid):
                return None if isinstance(edited, TryLater) else broadcast.message_id
        sent = await self._messenger.send_text(chat_id, screen.text, screen.keyboard, priority="talk")
        if isinstance(sent, TryLater):
            return None
        return (sent.message_id or 0) if isinstance(sent, Delivered) else 0

    async def _user(self, chat_id: int) -> User | None:
        async with self._database.reading() as tx:
            return await UserRepository(tx).get_if_readable(chat_id)


async def _draw_picture(broadcast: Broadcast, t: Translator, charts: Charts) -> bytes | str | None:
    """Return a photo's file id, a PNG chart of the rate up to the broadcast's quote, or None."""
    period = broadcast.chart_period
    if period is None or broadcast.quote is None:
        return broadcast.picture
    return (await charts.of(t, ChartPeriod(period), broadcast.quote)).png

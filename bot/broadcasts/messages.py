"""Telegram messages of broadcasts: to readers, as a preview to operators, and the question whether to start one."""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

import structlog
from prometheus_client import Counter as CounterMetric

from bot.broadcasts.model import (
    MAYBE_ARRIVED,
    SUBJECT,
    Broadcast,
    BroadcastMessage,
    BroadcastNotification,
    BroadcastStatus,
    BroadcastWarning,
    DeliveryStatus,
    WaitingBroadcast,
)
from bot.broadcasts.repository import BroadcastRepository, DeliveryRepository
from bot.broadcasts.screens import compose
from bot.broadcasts.screens.compose import build_keyboard, render_text
from bot.core.backoff import Backoff
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.i18n import Translator
from bot.infra.metrics import start_at_zero
from bot.infra.outbox.model import (
    DeliveryOutcome,
    Notification,
    NotificationKind,
    RetryLater,
    Sent,
    Undeliverable,
    format_subject,
)
from bot.infra.outbox.rendering import FinalResult, FollowUp, RenderWithFacts, delivery_outcome
from bot.infra.telegram.outbound.limiter import ON_SEND
from bot.infra.telegram.outbound.sender import Delivered, Outcome
from bot.infra.telegram.ui.screen import Keyboard, Screen
from bot.rates.charts import Charts
from bot.rates.model import ChartPeriod, Subscription
from bot.rates.notifications import is_quiet_for
from bot.rates.repository import SubscriptionRepository
from bot.users.readers import RenderContext, Renderer, as_message
from bot.users.repository import UserRepository


def reader_notifications(
    broadcast: Broadcast, readers: Iterable[int], now: datetime
) -> list[Notification[BroadcastMessage]]:
    """Return the notification for each of these readers."""
    payload, kind = BroadcastMessage(broadcast.id), BroadcastNotification.MESSAGE
    return [kind.create(reader, SUBJECT + broadcast.id, payload, now) for reader in readers]


def waiting_notifications(
    broadcast: Broadcast, operator_ids: Iterable[int], warnings: tuple[BroadcastWarning, ...], now: datetime
) -> list[Notification[WaitingBroadcast]]:
    """Return a notification for each operator that a broadcast waits for one of them."""
    subject = format_subject("broadcast", broadcast.id, broadcast.revision)
    payload = WaitingBroadcast(broadcast.id, warnings)
    return [BroadcastNotification.WAITS.create(each, subject, payload, now) for each in sorted(operator_ids)]


async def show_waiting(notification: Notification[WaitingBroadcast], context: RenderContext) -> Screen | None:
    """Ask an operator to confirm, unless the broadcast no longer waits."""
    waiting = notification.payload
    async with context.database.reading() as tx:
        broadcast = await BroadcastRepository(tx).get(waiting.broadcast)
    if broadcast is None or not broadcast.is_waiting:
        return None
    return compose.show_waiting(context.reader, broadcast, waiting.doubts)


render_waiting: Final = as_message(show_waiting, priority="talk")


log = structlog.get_logger(__name__)

DELIVERIES: Final = CounterMetric("kirim_broadcast_deliveries", "Messages of broadcasts by result.", ["status"])
start_at_zero(
    DELIVERIES, (DeliveryStatus.DELIVERED, DeliveryStatus.BLOCKED, DeliveryStatus.FAILED, DeliveryStatus.UNKNOWN)
)

MAX_CACHED: Final = 8

RESTS = Backoff(first=0.5, longest=60.0)
"""The pauses of all broadcasts while messages fail. Each failure can leave a result unknown, so the pauses grow."""

MAX_TRIES: Final = 24
"""How often a message is tried. A broadcast has to end, even if Telegram refuses one chat forever."""

MAX_REJECTIONS: Final = 25
"""After so many rejected messages in a row, the broadcast itself must be wrong, so it is paused."""

LOOK_AGAIN_SECONDS: Final = 1.0
"""When a message of a broadcast that isn't running is looked at again, unless it was taken back by then."""


@dataclass(slots=True)
class _Message:
    """A broadcast's message in one language. `picture` becomes a file id after the first upload."""

    text: str
    keyboard: Keyboard
    picture: str | bytes | None
    upload: asyncio.Lock = field(default_factory=asyncio.Lock)


async def _make_message(broadcast: Broadcast, t: Translator, charts: Charts) -> _Message:
    return _Message(render_text(broadcast, t), build_keyboard(t), await _draw_picture(broadcast, t, charts))


class ReaderMessages:
    """Send a broadcast's message to each reader, and to operators as a preview.

    The messages to readers wait in the outbox, and have the lowest priority.
    A message that may have arrived isn't sent again. After a failure, one message at a time is tried, with growing
    pauses, until one is delivered.

    Args:
        infra: the database, the time, the messenger and the languages.
        charts: draws the rate, if the broadcast shows it.
        paid: whether to pay for each message above Telegram's free rate (`allow_paid_broadcast`).
    """

    def __init__(self, infra: Infra, charts: Charts, *, paid: bool) -> None:
        self._infra = infra
        self._charts = charts
        self._paid = paid
        self._messages: OrderedDict[tuple[str, str], _Message] = OrderedDict()
        self._making = asyncio.Lock()
        self._unsent: dict[asyncio.Task[Outcome], str] = {}
        """Calls whose request hasn't started -> the broadcast."""
        self._rejections: Counter[str] = Counter()
        """Broadcast -> rejected messages since the last delivery."""
        self._failures = 0
        """Failures since the last delivery."""
        self._rests_until = float("-inf")
        self._is_closed = False

    @property
    def is_resting(self) -> bool:
        """Whether broadcasts pause because messages failed."""
        return _now() < self._rests_until

    def renderers(self) -> Mapping[NotificationKind, Renderer]:
        """Return the renderers of all notifications of broadcasts."""
        return {
            BroadcastNotification.MESSAGE: RenderWithFacts(self._read, self._render),
            BroadcastNotification.WAITS: render_waiting,
        }

    def follow_ups(self) -> Mapping[NotificationKind, FollowUp]:
        """Return what saves the results of the messages."""
        return {BroadcastNotification.MESSAGE: _record_result}

    def open(self) -> None:
        """Send messages (again)."""
        self._is_closed = False

    def close(self) -> None:
        """Begin no more calls until `open`. Nobody's result is unknown because this process ends."""
        self._is_closed = True
        self.call_off()

    def call_off(self, broadcast_id: str | None = None) -> None:
        """Cancel the calls of a broadcast, or of all, whose request hasn't started. Their messages wait again."""
        for call, of_broadcast in tuple(self._unsent.items()):
            if broadcast_id in {None, of_broadcast}:
                call.cancel()

    async def send_preview(self, chat_id: int, broadcast: Broadcast, locale: str) -> Outcome:
        """Send a broadcast to one chat in one language, without a sound."""
        message = await _make_message(broadcast, self._infra.translations.get(locale), self._charts)
        text, keyboard, messenger = message.text, message.keyboard, self._infra.messenger
        if message.picture is None:
            return await messenger.send_text(chat_id, text, keyboard, priority="talk", silent=True)
        return await messenger.send_photo(chat_id, message.picture, text, keyboard, priority="talk", silent=True)

    async def _read(
        self, notification: Notification[BroadcastMessage], tx: Transaction
    ) -> tuple[Broadcast | None, Subscription | None]:
        subscription = await SubscriptionRepository(tx).get(notification.chat_id)
        return await BroadcastRepository(tx).get(notification.payload.broadcast), subscription

    async def _render(
        self,
        notification: Notification[BroadcastMessage],
        facts: tuple[Broadcast | None, Subscription | None],
        context: RenderContext,
    ) -> DeliveryOutcome:
        broadcast, subscription = facts
        if notification.maybe_sent or broadcast is None:
            return Undeliverable(MAYBE_ARRIVED)
        if broadcast.status is not BroadcastStatus.RUNNING:
            return RetryLater(LOOK_AGAIN_SECONDS)
        message = await self._get_message(broadcast, broadcast.audience.locale or context.t.locale)
        if self._is_closed:
            return RetryLater(LOOK_AGAIN_SECONDS)
        if self.is_resting:
            return RetryLater(self._rests_until - _now())
        if self._failures:
            self._rest()  # the others wait for the outcome of this one
        is_quiet = subscription is not None and is_quiet_for(context, subscription)
        outcome = await self._call(broadcast.id, notification.chat_id, message, silent=is_quiet)
        if outcome is None:
            return RetryLater(LOOK_AGAIN_SECONDS)
        return await self._assess(broadcast, notification, delivery_outcome(outcome))

    async def _call(self, broadcast_id: str, chat_id: int, message: _Message, *, silent: bool) -> Outcome | None:
        """Send a message. Return None if the call was called off before its request."""
        context = copy_context()
        call = asyncio.create_task(self._send(chat_id, message, silent=silent), context=context)
        self._unsent[call] = broadcast_id

        def on_request() -> None:
            self._unsent.pop(call, None)

        context.run(ON_SEND.set, on_request)
        try:
            await asyncio.wait({call})
        finally:
            self._unsent.pop(call, None)
            call.cancel()
        return None if call.cancelled() else call.result()

    async def _send(self, chat_id: int, message: _Message, *, silent: bool) -> Outcome:
        if not isinstance(message.picture, bytes):
            return await self._send_now(chat_id, message, silent=silent)
        async with message.upload:  # the first one uploads the picture, and the others wait for its id
            return await self._send_now(chat_id, message, silent=silent)

    async def _send_now(self, chat_id: int, message: _Message, *, silent: bool) -> Outcome:
        sent = await self._infra.messenger.bulk.send(
            chat_id, message.text, message.keyboard, message.picture, paid=self._paid, silent=silent
        )
        if isinstance(sent, Delivered) and sent.photo_id:
            message.picture = sent.photo_id
        return sent

    async def _assess(
        self, broadcast: Broadcast, notification: Notification[BroadcastMessage], outcome: DeliveryOutcome
    ) -> DeliveryOutcome:
        """Return the outcome for the outbox. Slow down, or pause the broadcast, if it is one of several failures."""
        match outcome:
            case Sent():
                self._failures, self._rests_until = 0, float("-inf")
                self._rejections.pop(broadcast.id, None)
            case RetryLater(maybe_sent=is_unknown):
                if not self._failures:
                    self._rest()
                if is_unknown:
                    return Undeliverable(MAYBE_ARRIVED)
                if notification.attempts + 1 >= MAX_TRIES:
                    return Undeliverable("refused too often")
            case Undeliverable(whole_chat=False):
                self._rejections[broadcast.id] += 1
                if self._rejections[broadcast.id] >= MAX_REJECTIONS:
                    await self._pause(broadcast.id)
        return outcome

    def _rest(self) -> None:
        """Begin a pause, and call off what hasn't been requested."""
        self._failures += 1
        self._rests_until = _now() + RESTS.after(self._failures)
        self.call_off()

    async def _pause(self, broadcast_id: str) -> None:
        async with self._infra.database.transaction() as tx:
            broadcast = await BroadcastRepository(tx).lock(broadcast_id)
            if broadcast is not None and broadcast.status is BroadcastStatus.RUNNING:
                await BroadcastRepository(tx).save(replace(broadcast, status=BroadcastStatus.PAUSED))
                log.error("broadcast_paused", broadcast=broadcast_id, reason="one after the other is refused")
        del self._rejections[broadcast_id]

    async def _get_message(self, broadcast: Broadcast, locale: str) -> _Message:
        """Return the message in one language. It is made once, because all readers get the same."""
        key = broadcast.id, locale
        async with self._making:
            if key not in self._messages:
                t = self._infra.translations.get(locale)
                self._messages[key] = await _make_message(broadcast, t, self._charts)
                while len(self._messages) > MAX_CACHED:
                    self._messages.popitem(last=False)
            return self._messages[key]


async def _record_result(
    tx: Transaction, notification: Notification[BroadcastMessage], result: FinalResult, now: datetime
) -> None:
    """Count the result of a message. Save that a user who can't be reached has blocked the bot."""
    match result:
        case Sent():
            status = DeliveryStatus.DELIVERED
        case Undeliverable(whole_chat=True):
            status = DeliveryStatus.BLOCKED
            await DeliveryRepository(tx).record_blocked(notification.id)
            user = await UserRepository(tx).get_if_readable(notification.chat_id)
            if user is not None and user.blocked_at is None:
                await UserRepository(tx).save(replace(user, blocked_at=now))
        case Undeliverable(reason):
            status = DeliveryStatus.UNKNOWN if reason == MAYBE_ARRIVED else DeliveryStatus.FAILED
    tx.on_commit.append(DELIVERIES.labels(status.value).inc)


async def _draw_picture(broadcast: Broadcast, t: Translator, charts: Charts) -> bytes | str | None:
    """Return a photo's file id, a PNG chart of the rate up to the broadcast's quote, or None."""
    period = broadcast.chart_period
    if period is None or broadcast.quote is None:
        return broadcast.picture
    return (await charts.of(t, ChartPeriod(period), broadcast.quote)).png


def _now() -> float:
    return asyncio.get_running_loop().time()

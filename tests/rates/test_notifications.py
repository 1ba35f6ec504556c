"""Notifications about the rate: in the reader's language, silent in quiet hours, and not after unsubscribing."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from bot.infra.i18n import Translations
from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.outbox.model import DeliveryOutcome, Queue, RetryLater, Sent, StoredNotification, Undeliverable
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Outcome
from bot.infra.telegram.ui.screen import Keyboard
from bot.rates.model import AlertRequest
from bot.rates.notifications import RENDERERS, DailyQuote, RateNotification, daily_quote
from bot.rates.service import SubscriptionService
from bot.rates.workers import RateScheduler
from bot.settlement.model import Quote
from bot.users.model import User
from tests.infra.builders import a_notification, due_heads
from tests.infra.test_outbox_delivery import SlowSender
from tests.orders.order_system import EMMA, OrderSystem
from tests.rendering import context_for, renderers_for
from tests.settlement.fake_settlement import BEGINNING, RATE
from tests.texts import readable, text
from tests.waiting import TIMEOUT_SECONDS

EIGHT = BEGINNING.replace(hour=1) + timedelta(days=1)
ENGLISH = Translations.load(strict=True).get("en")


@dataclass
class FakeMessenger:
    """Records messages instead of sending them."""

    outcome: Outcome = field(default_factory=Delivered)
    sent: list[Mapping[str, Any]] = field(default_factory=list)

    async def send_text(
        self, chat_id: int, markup: str, keyboard: Keyboard, *, priority: str, silent: bool, **_: object
    ) -> Outcome:
        self.sent.append(
            {"chat": chat_id, "text": readable(markup), "buttons": keyboard, "priority": priority, "silent": silent}
        )
        return self.outcome


class MoneyListener(SlowSender):
    """Sets an event when all messages about money were sent."""

    def __init__(self, system: OrderSystem) -> None:
        super().__init__(system)
        self.money_sent = asyncio.Event()

    async def send(self, notification: StoredNotification) -> Sent | RetryLater | Undeliverable:
        outcome = await super().send(notification)
        if notification.kind == "paid":
            self.money_sent.set()
        return outcome


@dataclass
class Subscriber:
    """Emma, a subscriber, with her phone."""

    system: OrderSystem
    user: User
    phone: FakeMessenger
    subscribing: SubscriptionService

    async def render(self, notification: StoredNotification) -> DeliveryOutcome:
        system = self.system
        context = context_for(self.user, store=system.store, messenger=self.phone, now=system.clock.now(), t=ENGLISH)
        return await renderers_for(context, RENDERERS).send(notification)


@pytest.fixture
async def emma(system: OrderSystem) -> Subscriber:
    user, subscribing = User(id=EMMA, created_at=BEGINNING), SubscriptionService(system.store, system.clock)
    await subscribing.set_daily_time(user, 8 * 60)
    request = AlertRequest(is_above=True, threshold=Decimal(1_800_000_000), cooldown_hours=6, days=30)
    assert await subscribing.set_alert(user, request)
    return Subscriber(system, user, FakeMessenger(), subscribing)


@pytest.fixture
async def queued(emma: Subscriber) -> dict[str, StoredNotification]:
    """Render a daily quote and an alert at eight in the morning."""
    system = emma.system
    scheduler = RateScheduler(system.store, system.catalogue, system.clock)
    system.clock.at = EIGHT
    await scheduler.check(Quote(Decimal(1_800_000_000), EIGHT))
    await scheduler.queue_due()
    await scheduler.queue_met()
    found = {}
    async with system.sql.transaction() as tx:
        while heads := await due_heads(tx, EIGHT, queue=Queue.BULK):
            found[heads[0].kind] = heads[0]
            await OutboxRepository(tx).record_sent({heads[0].id: 1}, EIGHT)
    return found


async def test_at_night_it_comes_without_a_sound(emma: Subscriber, queued: dict[str, StoredNotification]) -> None:
    emma.system.clock.at = EIGHT.replace(hour=23)  # six in the morning, in Jakarta
    await emma.render(queued[RateNotification.PRICE_ALERT])
    assert emma.phone.sent[0]["silent"]
    await emma.subscribing.set_quiet_hours(emma.user, None)
    await emma.render(queued[RateNotification.PRICE_ALERT])
    assert not emma.phone.sent[1]["silent"]


async def test_what_may_have_arrived_is_repeated_only_if_it_was_waited_for(
    emma: Subscriber, queued: dict[str, StoredNotification]
) -> None:
    for kind in (RateNotification.DAILY_QUOTE, RateNotification.PRICE_ALERT):
        await emma.render(replace(queued[kind], maybe_sent=True))
    assert [message["priority"] for message in emma.phone.sent] == ["bulk"]
    assert text("infra.outbox.again") in emma.phone.sent[0]["text"]


async def test_whoever_has_stopped_or_wishes_to_be_forgotten_reads_nothing(
    emma: Subscriber, queued: dict[str, StoredNotification]
) -> None:
    leaving = replace(emma, user=replace(emma.user, deletion_requested_at=EIGHT))
    assert await leaving.render(queued[RateNotification.DAILY_QUOTE]) == Sent()
    await emma.subscribing.end(EMMA)
    for kind in (RateNotification.DAILY_QUOTE, RateNotification.PRICE_ALERT):
        assert await emma.render(queued[kind]) == Sent()
    assert emma.phone.sent == []


async def test_a_slow_crowd_of_them_holds_up_no_message_about_money(system: OrderSystem) -> None:
    sender, now = MoneyListener(system), system.clock.now()
    delivery = OutboxDelivery(system.store, sender, system.clock)
    crowd = range(1, Queue.BULK.slots * 4)
    sender.locks = {chat_id: asyncio.Event() for chat_id in crowd}
    async with system.sql.transaction() as tx:
        quote = DailyQuote(Quote(RATE, now), None)
        await OutboxRepository(tx).add([daily_quote(chat_id, now, quote, now) for chat_id in crowd])
        await OutboxRepository(tx).add([a_notification(chat_id=9_999, due_at=now, created_at=now)])
    await delivery.start_due()
    async with asyncio.timeout(TIMEOUT_SECONDS):
        await sender.money_sent.wait()
    assert len(sender.sent) == 1
    await delivery.close(0)

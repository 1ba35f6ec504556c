"""All metrics of the bot: what they are called, that users add no series, and what the database's gauges show."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from prometheus_client import REGISTRY
from telegram import Update

from bot.app import App
from bot.core.clock import SystemClock
from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.outbox.model import NoPayload, Notification, Sent, StoredNotification
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.inbound.chat_queues import ChatQueues
from bot.infra.telegram.inbound.receiver import Receiver, UpdateIntake
from bot.infra.telegram.inbound.repository import InboxRepository
from bot.infra.telegram.outbound.limiter import SendLimiter
from bot.orders.repository import OrderRepository
from bot.payment_requests.repository import PaymentRequestRepository
from bot.staff.model import Alarm, AlarmKind
from bot.staff.repository import AlarmRepository
from tests.app.built_app import built_app
from tests.orders.builders import an_open_order
from tests.payment_requests.builders import a_request
from tests.waiting import until

CHATS = range(10_001, 10_201)
MAX_SERIES = 1_000


@pytest.fixture
async def app(file: str) -> AsyncIterator[App]:
    async with built_app(file) as app:
        await app.database.upgrade()
        yield app


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def series() -> set[tuple[str, frozenset[tuple[str, str]]]]:
    """Return each series with its labels. Those of the garbage collector and the process come with the library."""
    return {
        (sample.name, frozenset(sample.labels.items())) for family in REGISTRY.collect() for sample in family.samples
    }


class Telegram:
    """A source of one update from each of many chats."""

    def __init__(self) -> None:
        self.updates: list[dict[str, Any]] = [
            {
                "update_id": number,
                "message": {
                    "message_id": 1,
                    "date": 0,
                    "text": f"secret {chat}",
                    "chat": {"id": chat, "type": "private"},
                    "from": {"id": chat, "is_bot": False, "first_name": f"Emma {chat}"},
                },
            }
            for number, chat in enumerate(CHATS, 1)
        ]

    async def fetch(self, offset: int | None) -> Sequence[dict[str, Any]]:
        del offset
        if not self.updates:
            await asyncio.Event().wait()
        batch, self.updates = self.updates[:100], self.updates[100:]
        return batch


class Sender:
    """A sender that every notification reaches."""

    async def send(self, notification: StoredNotification) -> Sent:
        return Sent(notification.chat_id)


async def answer_many_chats(app: App) -> None:
    """Receive an update of each chat, answer it within the limits, and send each chat a notification."""
    limiter, clock, answered = SendLimiter(), SystemClock(), set[int]()
    has_all = asyncio.Event()

    async def call(*_: Any, **__: Any) -> bool:
        return True

    async def process(update: Update) -> None:
        assert update.effective_chat is not None
        chat = update.effective_chat.id
        await limiter.process_request(call, (), {}, "sendMessage", {"chat_id": chat}, "talk")
        answered.add(chat)
        if len(answered) == len(CHATS):
            has_all.set()

    queues = ChatQueues(app.database, process, clock, None)
    receiving = asyncio.create_task(Receiver(Telegram(), UpdateIntake(app.database, queues, clock)).run())
    await has_all.wait()

    async def are_finished() -> bool:
        async with app.database.reading() as tx:
            return await InboxRepository(tx).count_unfinished() == 0

    await until(are_finished, what="every update is finished")
    receiving.cancel()
    await queues.drain()
    await limiter.shutdown()
    now = clock.now()
    async with app.database.transaction() as tx:
        await OutboxRepository(tx).add(
            [
                Notification(
                    chat_id=chat, subject=f"order:R{chat}", kind="paid", payload=NoPayload(), due_at=now, created_at=now
                )
                for chat in CHATS
            ]
        )
    delivery = OutboxDelivery(app.database, Sender(), clock)
    while await delivery.start_due():
        await delivery.wait_until_sent()


async def test_many_chats_add_no_series_and_nothing_of_theirs(app: App) -> None:
    await app.operations.gauges.refresh()
    before, answers, sent = (
        series(),
        value("kirim_answer_seconds_count"),
        value("kirim_notifications_total", queue="urgent", result="sent"),
    )
    await answer_many_chats(app)
    await app.operations.gauges.refresh()
    assert value("kirim_answer_seconds_count") == answers + len(CHATS)
    assert value("kirim_notifications_total", queue="urgent", result="sent") == sent + len(CHATS)
    assert series() == before
    assert len(before) < MAX_SERIES
    shown = {text for name, labels in before for text in (name, *(part for label in labels for part in label))}
    assert not any(personal in text for text in shown for personal in ("Emma", "secret", "R10001", "10001"))


def test_each_metric_is_named_and_explained() -> None:
    for family in REGISTRY.collect():
        assert family.name.startswith(("kirim_", "process_", "python_")), family.name
        assert family.documentation.endswith(".") or not family.name.startswith("kirim_"), family.name


async def test_the_gauges_show_what_is_in_the_database(app: App) -> None:
    now = datetime.now(UTC)
    async with app.database.transaction() as tx:
        assert await OrderRepository(tx).add(
            an_open_order(next_poll_at=now - timedelta(seconds=60), created_at=now, origin="0123456789abcdef")
        )
        assert await PaymentRequestRepository(tx).add(a_request())
        assert await AlarmRepository(tx).add(Alarm(kind=AlarmKind.SERVICE_DOWN, raised_at=now))
        await OutboxRepository(tx).add(
            [
                Notification(
                    chat_id=1001,
                    subject="order:R1",
                    kind="paid",
                    payload=NoPayload(),
                    due_at=now - timedelta(seconds=40),
                    created_at=now - timedelta(seconds=40),
                )
            ]
        )
    await app.operations.gauges.refresh()
    assert value("kirim_orders", phase="unpaid") == 1
    assert value("kirim_orders", phase="paid") == 0
    assert value("kirim_order_reads_late", paid="no") == 1
    assert value("kirim_alarms_open", kind="service_down") == 1
    assert value("kirim_payment_requests_open") == 1
    assert value("kirim_payment_request_orders", paid_in="telegram") == 1
    assert value("kirim_payment_request_orders", paid_in="browser") == 0
    assert value("kirim_notifications_waiting", queue="urgent") == 1
    assert 40 <= value("kirim_notifications_oldest_seconds", queue="urgent") < 60
    assert value("kirim_notifications_waiting", queue="bulk") == 0
    assert value("kirim_settlement_budget_per_second") == 10
    assert value("kirim_bulk_send_limit_per_second") == pytest.approx(29.7)

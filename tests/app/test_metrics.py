"""All metrics of the bot: what they are called, that users add no series, and what the database's gauges show."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client import REGISTRY

from bot.app import App
from bot.infra.outbox.model import NoPayload, Notification
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.repository import OrderRepository
from bot.payment_requests.repository import PaymentRequestRepository
from bot.staff.model import Alarm, AlarmKind
from bot.staff.repository import AlarmRepository
from tests.app.built_app import built_app
from tests.ops.expressions import find_labels
from tests.orders.builders import an_open_order
from tests.payment_requests.builders import a_request

LABELS = {
    *("destination", "event", "kind", "le", "paid", "paid_in", "phase", "priority", "problem", "quantile", "queue"),
    *("result", "route", "status", "worker"),
}
"""Their values are words of the code, or banks and e-wallets of the service's list."""


@pytest.fixture
async def app(file: str) -> AsyncIterator[App]:
    async with built_app(file) as app:
        await app.database.upgrade()
        yield app


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def test_no_metric_has_a_label_for_what_users_write_or_are_called() -> None:
    labels = {label for each in find_labels().values() for label in each}
    assert labels <= LABELS


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

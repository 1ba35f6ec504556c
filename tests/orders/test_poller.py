"""Open orders are polled as the settlement API says: one by id, many by the list, and never too often."""

from typing import Any

import pytest

from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.orders.messages import queue_order_notifications
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order, Phase
from bot.orders.tracking import poller, tracker
from bot.settlement.errors import KeyRefused, NoAnswer, SlowDown
from bot.staff.notifications import AlarmNotification
from tests.infra.keys import VAULT
from tests.infra.test_outbox_delivery import CountingDatabase
from tests.orders.order_system import OSCAR, OrderSystem
from tests.settlement.fake_settlement import FakeSettlement


async def orders(system: OrderSystem, count: int) -> list[Order]:
    made = [await system.place(1000 + index) for index in range(1, count + 1)]
    await system.deliver()
    system.sender.sent.clear()
    system.service.calls.clear()
    return made


async def test_one_order_is_looked_up_by_its_id_each_interval(system: OrderSystem, service: FakeSettlement) -> None:
    await orders(system, 1)
    for _ in range(10):
        await system.poll(after=1)
    assert service.calls == [("look_up", "svc-1")] * 2


@pytest.mark.parametrize("changed", [0, 6])
async def test_the_reports_of_one_list_are_one_transaction(
    database: str, service: FakeSettlement, *, changed: int
) -> None:
    store = CountingDatabase(Database(database, VAULT))
    system = OrderSystem(database, service, wrap=lambda _: store)
    made = await orders(system, 12)
    for number in range(1, changed + 1):
        service.becomes(f"svc-{number}", "LN_INVOICE_PAID")
    system.clock.passes(seconds=5)
    before = store.writes
    await system.poller.tick()
    assert store.writes - before == 1
    polled = [await system.order(order.reference) for order in made]
    assert [order.is_paid for order in polled] == [True] * changed + [False] * (12 - changed)
    assert {order.last_polled_at for order in polled} == {system.clock.now()}
    assert {order.next_poll_at for order in polled} == {system.clock.now() + poller_interval(system)}
    await system.close()
    await store.close()


async def test_one_order_that_cannot_be_saved_holds_up_no_other_of_its_list(
    system: OrderSystem, service: FakeSettlement, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await orders(system, 5)
    monkeypatch.setattr(poller, "LIST_SIZE", 4)  # the first one is looked up by its id
    for number in range(1, 6):
        service.becomes(f"svc-{number}", "LN_INVOICE_PAID")

    async def broken(tx: Transaction, order: Order, *rest: Any) -> None:
        if order.service_id == "svc-3":
            raise ZeroDivisionError
        await queue_order_notifications(tx, order, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(tracker, "queue_order_notifications", broken)
        with pytest.raises(ZeroDivisionError):
            await system.poll()
    await system.deliver()
    assert [(await system.order(order.reference)).is_paid for order in made] == [True, True, False, True, True]
    for chat_id in (1001, 1002, 1004, 1005):
        assert system.sender.kinds(chat_id).count(OrderNotification.PAID) == 1
    await system.poll()
    assert system.sender.kinds(1003).count(OrderNotification.PAID) == 1


async def test_what_the_list_does_not_show_is_looked_up_by_id_paid_ones_first(
    system: OrderSystem, service: FakeSettlement, monkeypatch: pytest.MonkeyPatch
) -> None:
    await orders(system, 8)
    service.becomes("svc-5", "LN_INVOICE_PAID")
    await system.poll()
    monkeypatch.setattr(poller, "LIST_SIZE", 3)
    service.calls.clear()
    await system.poll()
    assert service.calls[0] == ("newest", "")
    assert service.calls[1] == ("look_up", "svc-5")
    assert {about for _, about in service.calls[2:]} == {"svc-1", "svc-2", "svc-3", "svc-4"}


async def test_a_list_that_fails_only_means_that_each_is_asked_for(
    system: OrderSystem, service: FakeSettlement
) -> None:
    await orders(system, 5)
    service.reads.append(NoAnswer())
    await system.poll()
    assert service.times("look_up") == 5


async def test_an_order_that_the_service_does_not_know_is_asked_for_again_and_never_called_failed(
    system: OrderSystem, service: FakeSettlement
) -> None:
    made = await orders(system, 1)
    kept = service.records.pop("svc-1")
    await system.poll()
    await system.poll()
    assert system.sender.sent == []
    service.records["svc-1"] = kept
    service.becomes("svc-1", "COMPLETED")
    await system.poll()
    assert (await system.order(made[0].reference)).phase is Phase.DONE


async def test_a_refused_key_stops_everything_at_once_and_operators_hear_of_it_once(
    system: OrderSystem, service: FakeSettlement
) -> None:
    await orders(system, 40)
    service.reads.extend([KeyRefused()] * 100)
    pauses = [await system.poll(after=0 if index else 5) for index in range(8)]
    assert len(service.calls) == 8
    assert pauses == [5, 10, 20, 40, 80, 160, 300, 300]
    assert system.sender.kinds(OSCAR) == [AlarmNotification.RAISED]
    service.reads.clear()
    await system.poll()
    assert system.sender.kinds(OSCAR) == [AlarmNotification.RAISED, AlarmNotification.CLEARED]
    service.reads.append(KeyRefused())
    assert await system.poll() == 5
    assert system.sender.kinds(OSCAR)[2:] == [AlarmNotification.RAISED]


@pytest.mark.parametrize(("asked", "pause"), [(7, 7), (600, 600), (None, 5), (10**9, 3600)])
async def test_what_the_service_asks_for_is_honoured(
    system: OrderSystem, service: FakeSettlement, asked: float | None, pause: float
) -> None:
    await orders(system, 1)
    service.reads.append(SlowDown(retry_after=asked))
    assert await system.poll() == pause
    assert service.times("look_up") == 1


def poller_interval(system: OrderSystem) -> Any:
    return system.orders.rules.poll_interval

"""Open orders are polled as the settlement API says: one by id, many by the list, and never too often."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from bot.infra.db.database import Database
from bot.infra.db.errors import RuleBroken, StoreDown
from bot.infra.db.transaction import Transaction
from bot.orders.messages import queue_order_notifications
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order, Phase
from bot.orders.repository import OrderRepository, TrackedOrder
from bot.orders.tracking import poller, tracker
from bot.settlement.errors import KeyRefused, NoAnswer, OrderNotFound, SlowDown
from bot.staff.notifications import AlarmNotification
from tests.infra.keys import VAULT
from tests.infra.test_outbox_delivery import CountingDatabase
from tests.orders.order_system import EMMA, OSCAR, OrderSystem
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


async def test_a_change_is_told_with_the_next_look(system: OrderSystem, service: FakeSettlement) -> None:
    await orders(system, 1)
    service.becomes("svc-1", "LN_INVOICE_PAID")
    await system.poll()
    assert OrderNotification.PAID in system.sender.kinds()


async def test_many_are_seen_by_one_list_call(system: OrderSystem, service: FakeSettlement) -> None:
    made = await orders(system, 20)
    service.becomes("svc-7", "COMPLETED")
    await system.poll()
    assert service.calls == [("newest", "")]
    assert (await system.order(made[6].reference)).phase is Phase.DONE


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


async def test_an_order_that_changes_while_its_list_is_applied_is_applied_again(
    system: OrderSystem, service: FakeSettlement, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await orders(system, 3)
    for number in (1, 2, 3):
        service.becomes(f"svc-{number}", "LN_INVOICE_PAID")
    find = OrderRepository.find_tracked

    async def outdated(repository: OrderRepository, references: Any) -> tuple[TrackedOrder, ...]:
        found = await find(repository, references)
        return tuple(
            replace(each, order=replace(each.order, version=each.order.version - 1))
            if each.order.service_id == "svc-2"
            else each
            for each in found
        )

    monkeypatch.setattr(OrderRepository, "find_tracked", outdated)
    await system.poll()
    assert [(await system.order(order.reference)).is_paid for order in made] == [True] * 3
    assert [system.sender.kinds(1000 + number).count(OrderNotification.PAID) for number in (1, 2, 3)] == [1] * 3


async def test_a_poll_takes_nothing_back_that_was_saved_meanwhile(system: OrderSystem) -> None:
    [order] = await orders(system, 1)
    async with system.sql.transaction() as tx:
        ended = await OrderRepository(tx).save(replace(order, phase=Phase.DONE, next_poll_at=None))
        await OrderRepository(tx).save_polls([order])
    assert await system.order(order.reference) == ended


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


async def test_an_order_that_changed_shows_in_the_list_before_it_is_due(
    system: OrderSystem, service: FakeSettlement
) -> None:
    made = await orders(system, 4)
    await system.tracker.postpone(made[0].reference)
    system.clock.passes(seconds=4)
    await system.tracker.postpone(made[0].reference)
    service.becomes("svc-1", "LN_INVOICE_PAID")
    await system.poll(after=1)
    assert (await system.order(made[0].reference)).is_paid


async def test_an_empty_list_only_means_that_each_is_asked_for(system: OrderSystem, service: FakeSettlement) -> None:
    await orders(system, 5)
    service.listed = False
    await system.poll()
    assert service.times("newest") == 1
    assert service.times("look_up") == 5
    assert system.sender.sent == []


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


async def test_looking_stops_at_a_terminal_state(system: OrderSystem, service: FakeSettlement) -> None:
    await orders(system, 1)
    service.becomes("svc-1", "COMPLETED")
    for _ in range(10):
        await system.poll(after=60)
    assert service.times("look_up") == 1


async def test_an_outage_is_outlasted(system: OrderSystem, service: FakeSettlement) -> None:
    made = await orders(system, 1)
    service.reads.extend([NoAnswer()] * 30)
    for _ in range(30):
        await system.poll()
    service.becomes("svc-1", "LN_INVOICE_PAID")
    await system.poll()
    assert (await system.order(made[0].reference)).is_paid


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


async def test_no_request_follows_a_refusal_though_others_waited_for_their_turn(
    system: OrderSystem, service: FakeSettlement, monkeypatch: pytest.MonkeyPatch
) -> None:
    await orders(system, 30)
    service.listed = False
    turns = 0

    async def take() -> None:
        nonlocal turns
        turns += 1
        await asyncio.sleep(0)

    monkeypatch.setattr(system.poller._budget, "take", take)

    async def refuse(_: str) -> object:
        service.calls.append(("look_up", ""))
        raise KeyRefused

    monkeypatch.setattr(service, "look_up", refuse)
    await system.poll()
    assert service.times("look_up") == 1
    assert turns < 30


@pytest.mark.parametrize(("asked", "pause"), [(7, 7), (600, 600), (None, 5), (10**9, 3600)])
async def test_what_the_service_asks_for_is_honoured(
    system: OrderSystem, service: FakeSettlement, asked: float | None, pause: float
) -> None:
    await orders(system, 1)
    service.reads.append(SlowDown(retry_after=asked))
    assert await system.poll() == pause
    assert service.times("look_up") == 1


async def test_repeated_rate_rejections_make_the_rests_longer_and_an_answer_ends_them(
    system: OrderSystem, service: FakeSettlement
) -> None:
    await orders(system, 1)
    service.reads.extend([SlowDown(retry_after=4)] * 4)
    assert [await system.poll(after=0 if index else 5) for index in range(4)] == [4, 8, 16, 32]
    assert await system.poll(after=0) == 1
    service.reads.append(SlowDown(retry_after=4))
    assert await system.poll() == 4


async def test_one_order_without_an_answer_does_not_keep_the_others_unseen(
    system: OrderSystem, service: FakeSettlement, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await orders(system, 2)
    look_up = service.look_up

    async def hang_for_the_first(service_id: str) -> object:
        if service_id == "svc-1":
            await asyncio.Event().wait()
        return await look_up(service_id)

    monkeypatch.setattr(poller, "REQUEST_TIMEOUT_SECONDS", 0.02)
    monkeypatch.setattr(service, "look_up", hang_for_the_first)
    service.becomes("svc-2", "LN_INVOICE_PAID")
    await system.poll()
    assert (await system.order(made[1].reference)).is_paid
    assert not (await system.order(made[0].reference)).is_paid
    assert (await system.order(made[0].reference)).next_poll_at == system.clock.now() + poller_interval(system)


def poller_interval(system: OrderSystem) -> Any:
    return system.orders.rules.poll_interval


async def test_a_database_that_is_away_ends_the_tick_and_loses_nothing(
    system: OrderSystem, service: FakeSettlement, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await orders(system, 2)
    service.becomes("svc-1", "LN_INVOICE_PAID")

    async def away(*_: object, **__: object) -> None:
        raise StoreDown

    with monkeypatch.context() as patched:
        patched.setattr(system.tracker, "apply_report", away)
        with pytest.raises(StoreDown):
            await system.poll()
    await system.poll()
    assert (await system.order(made[0].reference)).is_paid


async def test_a_press_and_the_poller_look_no_more_than_the_limit_allows(
    system: OrderSystem, service: FakeSettlement
) -> None:
    made = await orders(system, 1)
    system.clock.passes(seconds=4.5)
    await system.apply_report(made[0].reference, await service.look_up("svc-1"))
    await system.poll(after=0.6)
    assert service.times("look_up") == 1


async def test_a_quiet_bot_asks_for_nothing(system: OrderSystem, service: FakeSettlement) -> None:
    assert await system.poll() == 1
    assert service.calls == []
    assert system.sender.kinds(EMMA) == []


async def test_a_404_is_an_answer_that_shows_the_key_taken(system: OrderSystem, service: FakeSettlement) -> None:
    await orders(system, 1)
    service.reads.extend([KeyRefused(), OrderNotFound()])
    await system.poll()
    await system.poll()
    assert system.sender.kinds(OSCAR) == [AlarmNotification.RAISED, AlarmNotification.CLEARED]


async def test_an_order_that_breaks_a_rule_stops_no_look_up_of_others(
    system: OrderSystem, service: FakeSettlement, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = await orders(system, 2)
    monkeypatch.setattr(poller, "CONCURRENT_REQUESTS", 1)
    apply = system.tracker.apply_report

    async def fail(reference: str, *more: Any, **named: Any) -> Order | None:
        if reference == bad.reference:
            raise RuleBroken
        return await apply(reference, *more, **named)

    monkeypatch.setattr(system.tracker, "apply_report", fail)
    service.becomes("svc-2", "LN_INVOICE_PAID")
    with pytest.raises(RuleBroken):
        await system.poll()
    assert (await system.order(good.reference)).is_paid

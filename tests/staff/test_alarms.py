"""Operators are notified once for each incident when the service rejects the key, and when it works again."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from bot.infra.db.errors import StoreDown
from bot.settlement.health import Health
from bot.settlement.model import KeyRefused, OrderNotFound, OutcomeUnknown, OutOfReach, Refused, ServiceDown, SlowDown
from bot.settlement.monitored import MonitoredSettlement
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarms import AlarmService, Finding
from bot.staff.notifications import AlarmNotification
from bot.staff.rules import StaffRules
from tests.orders.order_system import OSCAR, REQUEST, OrderSystem
from tests.settlement.builders import at_any_time
from tests.settlement.fake_settlement import FakeSettlement

CALLS: list[Callable[[MonitoredSettlement], Awaitable[object]]] = [
    lambda service: service.quote(),
    lambda service: service.payout_methods(),
    lambda service: service.deposit_channels(),
    lambda service: service.deposit_rails(),
    lambda service: service.platform_stats(),
    lambda service: service.look_up("svc-1"),
    lambda service: service.newest(),
]
REFUSED = Finding(AlarmKind.KEY_REFUSED, is_wrong=True)


@pytest.fixture
def monitored(system: OrderSystem) -> MonitoredSettlement:
    return MonitoredSettlement(system.service, system.health)


async def received_kinds(system: OrderSystem) -> list[str]:
    await system.deliver()
    return system.sender.kinds(OSCAR)


async def test_an_incident_is_reported_once_and_its_end_once(system: OrderSystem) -> None:
    for _ in range(3):
        system.health.record_rejected_key()
        await system.deliver()
    for _ in range(3):
        system.health.record_answer()
        await system.deliver()
    assert system.sender.kinds(OSCAR) == [AlarmNotification.KEY_REFUSED, AlarmNotification.KEY_WORKS]


async def test_a_second_incident_is_reported_even_within_the_same_second(system: OrderSystem) -> None:
    system.health.record_rejected_key()
    await system.deliver()
    system.health.record_answer()
    await system.deliver()
    system.clock.passes(milliseconds=1)
    system.health.record_rejected_key()
    assert await received_kinds(system) == [
        AlarmNotification.KEY_REFUSED,
        AlarmNotification.KEY_WORKS,
        AlarmNotification.KEY_REFUSED,
    ]


async def test_a_hundred_who_raise_it_at_once_raise_one(system: OrderSystem, other_system: OrderSystem) -> None:
    both = [system.alarms, other_system.alarms] * 50
    assert sum(await asyncio.gather(*(alarms.record_findings([REFUSED], ()) for alarms in both))) == 1
    assert await received_kinds(system) == [AlarmNotification.KEY_REFUSED]


async def test_a_restart_repeats_no_alarm_and_reports_its_end(
    system: OrderSystem, file: str, service: FakeSettlement
) -> None:
    system.health.record_rejected_key()
    assert await received_kinds(system) == [AlarmNotification.KEY_REFUSED]
    system.clock.passes(minutes=5)
    again = OrderSystem(file, service)
    again.health.record_rejected_key()
    assert await received_kinds(again) == []
    again.health.record_answer()
    assert await received_kinds(again) == [AlarmNotification.KEY_WORKS]
    await again.close()


async def test_an_alarm_that_could_not_be_saved_is_raised_by_the_next_check(
    system: OrderSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise StoreDown

    system.health.record_rejected_key()
    with monkeypatch.context() as patched:
        patched.setattr(system.store, "transaction", away)
        with pytest.raises(StoreDown):
            await system.monitor.check_service()
    assert await received_kinds(system) == [AlarmNotification.KEY_REFUSED]


async def test_every_operator_is_notified(system: OrderSystem) -> None:
    alarms = AlarmService(system.infra, StaffRules(operator_ids=frozenset({OSCAR, 2002})))
    await alarms.record_findings([REFUSED], ())
    await system.deliver()
    assert {each.chat_id for each in system.sender.sent} == {OSCAR, 2002}


@pytest.mark.parametrize("call", CALLS)
async def test_any_refused_read_is_noticed_and_any_answer_ends_it(
    system: OrderSystem, monitored: MonitoredSettlement, service: FakeSettlement, call: Callable[..., Awaitable[object]]
) -> None:
    service.make(REQUEST)
    service.reads.append(KeyRefused())
    with pytest.raises(KeyRefused):
        await call(monitored)
    assert await received_kinds(system) == [AlarmNotification.KEY_REFUSED]
    await call(monitored)
    assert await received_kinds(system) == [AlarmNotification.KEY_REFUSED, AlarmNotification.KEY_WORKS]


async def test_a_refused_post_is_noticed_and_a_made_order_ends_it(
    system: OrderSystem, monitored: MonitoredSettlement, service: FakeSettlement
) -> None:
    service.places.append(KeyRefused())
    with pytest.raises(KeyRefused):
        await monitored.place(REQUEST, at_any_time)
    assert await received_kinds(system) == [AlarmNotification.KEY_REFUSED]
    assert (await monitored.place(REQUEST, at_any_time)).service_id == "svc-1"
    assert await received_kinds(system) == [AlarmNotification.KEY_REFUSED, AlarmNotification.KEY_WORKS]


@pytest.mark.parametrize("failure", [OrderNotFound(), ServiceDown(), SlowDown(1)])
async def test_only_an_answer_to_our_key_ends_the_alarm(
    system: OrderSystem, monitored: MonitoredSettlement, service: FakeSettlement, failure: Exception
) -> None:
    system.health.record_rejected_key()
    service.reads.append(failure)
    with pytest.raises(type(failure)):
        await monitored.look_up("svc-1")
    assert system.health.is_key_accepted is isinstance(failure, OrderNotFound)


@pytest.mark.parametrize("failure", [Refused("no"), OutOfReach(), OutcomeUnknown()])
async def test_a_rejected_order_shows_that_the_key_is_accepted(
    system: OrderSystem, monitored: MonitoredSettlement, service: FakeSettlement, failure: Exception
) -> None:
    system.health.record_rejected_key()
    service.places.append(failure)
    with pytest.raises(type(failure)):
        await monitored.place(REQUEST, at_any_time)
    assert system.health.is_key_accepted is isinstance(failure, Refused)


async def test_an_answer_never_waits_for_the_database_in_which_alarms_are_kept(
    system: OrderSystem, monitored: MonitoredSettlement, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise StoreDown

    system.health.record_rejected_key()
    monkeypatch.setattr(system.store, "transaction", away)
    monkeypatch.setattr(system.store, "reading", away)
    assert (await monitored.place(REQUEST, at_any_time)).service_id == "svc-1"


async def test_the_monitor_is_called_at_once_when_the_key_is_rejected_or_accepted_again(system: OrderSystem) -> None:
    calls = 0

    def call() -> None:
        nonlocal calls
        calls += 1

    health = Health(system.clock, system.orders.rules.poll_interval, call)
    for record in (
        health.record_answer,
        health.record_rejected_key,
        health.record_rejected_key,
        health.record_failure,
        health.record_answer,
    ):
        record()
    assert calls == 3

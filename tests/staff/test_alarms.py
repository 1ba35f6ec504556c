"""Operators are notified once of an alarm and of its end: of what is urgent at once, else when they are awake."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.infra.db.errors import StoreDown
from bot.orders.alarms import load_order
from bot.settlement.client import SettlementClient
from bot.settlement.errors import KeyRefused, NeverReached, NoAnswer, OrderNotFound, OutcomeUnknown, Refused, SlowDown
from bot.settlement.health import Health
from bot.staff.alarms import AlarmService, Finding
from bot.staff.model import Alarm, AlarmKind, AlarmSubjects, StaffRules, find_notice_time
from bot.staff.notifications import AlarmNotification
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.e2e.local_times import JAKARTA
from tests.orders.order_system import OSCAR, REQUEST, OrderSystem
from tests.settlement.builders import at_any_time
from tests.settlement.fake_settlement import FakeSettlement

OLGA = 2002
CALLS: list[Callable[[SettlementClient], Awaitable[object]]] = [
    lambda service: service.quote(),
    lambda service: service.payout_methods(),
    lambda service: service.deposit_rails(),
    lambda service: service.platform_stats(),
    lambda service: service.look_up("svc-1"),
    lambda service: service.newest(),
]
REFUSED = Finding(AlarmKind.KEY_REFUSED, is_wrong=True)


@pytest.fixture
def monitored(system: OrderSystem) -> SettlementClient:
    return system.settlement


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
    assert system.sender.kinds(OSCAR) == [AlarmNotification.RAISED, AlarmNotification.CLEARED]


async def test_a_second_incident_is_reported_even_within_the_same_second(system: OrderSystem) -> None:
    system.health.record_rejected_key()
    await system.deliver()
    system.health.record_answer()
    await system.deliver()
    system.clock.passes(milliseconds=1)
    system.health.record_rejected_key()
    assert await received_kinds(system) == [
        AlarmNotification.RAISED,
        AlarmNotification.CLEARED,
        AlarmNotification.RAISED,
    ]


async def test_a_hundred_who_raise_it_at_once_raise_one(system: OrderSystem, other_system: OrderSystem) -> None:
    both = [system.alarms, other_system.alarms] * 50
    assert sum(await asyncio.gather(*(alarms.record_findings([REFUSED], ()) for alarms in both))) == 1
    assert await received_kinds(system) == [AlarmNotification.RAISED]


async def test_a_restart_repeats_no_alarm_and_reports_its_end(
    system: OrderSystem, file: str, service: FakeSettlement
) -> None:
    system.health.record_rejected_key()
    assert await received_kinds(system) == [AlarmNotification.RAISED]
    system.clock.passes(minutes=5)
    again = OrderSystem(file, service)
    again.health.record_rejected_key()
    assert await received_kinds(again) == []
    again.health.record_answer()
    assert await received_kinds(again) == [AlarmNotification.CLEARED]
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
            await system.check_service()
    assert await received_kinds(system) == [AlarmNotification.RAISED]


async def test_every_operator_is_notified(system: OrderSystem) -> None:
    alarms = AlarmService(system.infra, StaffRules(operator_ids=frozenset({OSCAR, 2002})), AlarmSubjects(load_order))
    await alarms.record_findings([REFUSED], ())
    await system.deliver()
    assert {each.chat_id for each in system.sender.sent} == {OSCAR, 2002}


@pytest.mark.parametrize("call", CALLS)
async def test_any_refused_read_is_noticed_and_any_answer_ends_it(
    system: OrderSystem, monitored: SettlementClient, service: FakeSettlement, call: Callable[..., Awaitable[object]]
) -> None:
    service.make(REQUEST)
    service.reads.append(KeyRefused())
    with pytest.raises(KeyRefused):
        await call(monitored)
    assert await received_kinds(system) == [AlarmNotification.RAISED]
    await call(monitored)
    assert await received_kinds(system) == [AlarmNotification.RAISED, AlarmNotification.CLEARED]


async def test_a_refused_post_is_noticed_and_a_made_order_ends_it(
    system: OrderSystem, monitored: SettlementClient, service: FakeSettlement
) -> None:
    service.places.append(KeyRefused())
    with pytest.raises(KeyRefused):
        await monitored.place(REQUEST, at_any_time)
    assert await received_kinds(system) == [AlarmNotification.RAISED]
    assert (await monitored.place(REQUEST, at_any_time)).service_id == "svc-1"
    assert await received_kinds(system) == [AlarmNotification.RAISED, AlarmNotification.CLEARED]


@pytest.mark.parametrize("failure", [OrderNotFound(), NoAnswer(), SlowDown(retry_after=1)])
async def test_only_an_answer_to_our_key_ends_the_alarm(
    system: OrderSystem, monitored: SettlementClient, service: FakeSettlement, failure: Exception
) -> None:
    system.health.record_rejected_key()
    service.reads.append(failure)
    with pytest.raises(type(failure)):
        await monitored.look_up("svc-1")
    assert system.health.is_key_accepted is isinstance(failure, OrderNotFound)


@pytest.mark.parametrize("failure", [Refused(reason="no"), NeverReached(), OutcomeUnknown()])
async def test_a_rejected_order_shows_that_the_key_is_accepted(
    system: OrderSystem, monitored: SettlementClient, service: FakeSettlement, failure: Exception
) -> None:
    system.health.record_rejected_key()
    service.places.append(failure)
    with pytest.raises(type(failure)):
        await monitored.place(REQUEST, at_any_time)
    assert system.health.is_key_accepted is isinstance(failure, Refused)


async def test_an_answer_never_waits_for_the_database_in_which_alarms_are_kept(
    system: OrderSystem, monitored: SettlementClient, monkeypatch: pytest.MonkeyPatch
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


@pytest.mark.parametrize(
    ("kind", "raised", "notified"),
    [
        (AlarmKind.KEY_REFUSED, "03:00", "03:00"),
        (AlarmKind.AMOUNT_DIFFERS, "21:59", "21:59"),
        (AlarmKind.AMOUNT_DIFFERS, "22:00", "08:00"),
        (AlarmKind.AMOUNT_DIFFERS, "07:59", "08:00"),
        (AlarmKind.AMOUNT_DIFFERS, "08:00", "08:00"),
        (AlarmKind.PICTURE_REFUSED, "12:00", "08:00"),
    ],
)
def test_what_is_not_urgent_waits_for_the_morning(kind: AlarmKind, raised: str, notified: str) -> None:
    raised_at = datetime.fromisoformat(f"2026-08-17T{raised}").replace(tzinfo=JAKARTA)
    at = find_notice_time(Alarm(kind=kind, raised_at=raised_at), JAKARTA)
    assert f"{at.astimezone(JAKARTA):%H:%M}" == notified
    assert timedelta() <= at - raised_at < timedelta(days=1)


async def test_each_operator_has_the_alarms_of_their_night_in_one_message_of_their_morning(
    system: OrderSystem,
) -> None:
    """Oscar is in Jakarta. For Olga in London, it is seven hours earlier, so she is awake until his morning."""
    system.clock.passes(seconds=(_at("23:00") - system.clock.now()).total_seconds())
    async with system.store.transaction() as tx:
        await UserRepository(tx).save(User(id=OLGA, created_at=system.clock.now(), time_zone="Etc/UTC"))
    rules = StaffRules(operator_ids=frozenset({OSCAR, OLGA}))
    alarms = AlarmService(system.infra, rules, AlarmSubjects(load_order))
    seen = Counter[tuple[int, str]]()

    async def pass_until(clock: str) -> None:
        while system.clock.now() < _at(clock):
            system.clock.passes(minutes=1)
            await alarms.remind()
            await system.deliver()

    for name in ("BCA", "BRI"):
        await alarms.record_findings([Finding(AlarmKind.DESTINATION_SLOW, is_wrong=True, subject=name)], ())
        system.clock.passes(minutes=2)
    await system.deliver()
    assert [each.chat_id for each in system.sender.sent] == [OLGA, OLGA]
    over = Finding(AlarmKind.DESTINATION_SLOW, is_wrong=False, subject="BRI")
    await alarms.record_findings([over], await alarms.find_open())
    await pass_until("07:59")
    assert OSCAR not in {each.chat_id for each in system.sender.sent}, "not even its end, nor a reminder"
    await pass_until("08:30")
    seen.update((each.chat_id, each.kind) for each in system.sender.sent)
    assert seen[OSCAR, AlarmNotification.REMINDER] == 1
    assert sum(count for (chat, _), count in seen.items() if chat == OSCAR) == 1


async def test_what_is_urgent_is_repeated_at_night_also_if_others_are_reminded_of_what_is_not(
    system: OrderSystem,
) -> None:
    system.clock.passes(seconds=(_at("18:00") - system.clock.now()).total_seconds())
    async with system.store.transaction() as tx:
        await UserRepository(tx).save(User(id=OLGA, created_at=system.clock.now(), time_zone="Etc/UTC"))
    rules = StaffRules(operator_ids=frozenset({OSCAR, OLGA}))
    alarms = AlarmService(system.infra, rules, AlarmSubjects(load_order))
    await alarms.record_findings([Finding(AlarmKind.KEY_REFUSED, is_wrong=True)], ())
    await alarms.take(OLGA)
    reminded = Counter[int]()
    of_oscar = list[str]()
    while system.clock.now() < _at("07:59"):
        system.clock.passes(minutes=1)
        if system.clock.now() == _at("23:00"):
            slow = Finding(AlarmKind.DESTINATION_SLOW, is_wrong=True, subject="BCA")
            await alarms.record_findings([slow], await alarms.find_open())
        await alarms.remind()
        await system.deliver()
        sent = Counter(each.chat_id for each in system.sender.sent if each.kind == AlarmNotification.REMINDER)
        if sent[OSCAR] > reminded[OSCAR]:
            of_oscar.append(f"{system.clock.now().astimezone(JAKARTA):%H:%M}")
        reminded = sent
    assert of_oscar == ["19:00", "20:00", "22:00", "02:00"], "as without the other alarm"
    assert reminded[OLGA] > reminded[OSCAR]


def _at(clock: str) -> datetime:
    """Return this time of 17 August in Jakarta; from midnight on, of the next day."""
    day = 17 if clock > "12:00" else 18
    return datetime.fromisoformat(f"2026-08-{day}T{clock}").replace(tzinfo=JAKARTA)


async def test_an_urgent_alarm_that_nobody_is_on_comes_again_twice_and_then_hourly(system: OrderSystem) -> None:
    system.health.record_rejected_key()
    await system.deliver()
    repeated = []
    for minutes in range(1, 200):
        system.clock.passes(minutes=1)
        if await system.alarms.remind():
            repeated.append(minutes)
    assert repeated == [10, 20, 80, 140]


async def test_repeats_of_thirty_alarms_are_one_message_and_one_press_takes_them_all(system: OrderSystem) -> None:
    findings = [Finding(AlarmKind.ORDER_STUCK, is_wrong=True, subject=f"R2345{number:02}") for number in range(30)]
    alarms = AlarmService(system.infra, StaffRules(operator_ids=frozenset({OSCAR, OLGA})), AlarmSubjects(load_order))
    await alarms.record_findings(findings, ())
    await alarms.remind()
    system.clock.passes(minutes=10)
    assert await alarms.remind()
    await system.deliver()
    assert system.sender.kinds(OSCAR) == [AlarmNotification.RAISED, AlarmNotification.REMINDER]
    assert await alarms.take(OSCAR)
    assert not await alarms.take(OLGA)
    await system.deliver()
    assert system.sender.kinds(OLGA).count(AlarmNotification.TAKEN) == 1
    assert AlarmNotification.TAKEN not in system.sender.kinds(OSCAR)
    system.clock.passes(minutes=49)
    assert not await alarms.remind()


async def test_what_is_raised_within_a_minute_of_the_first_is_one_message_and_the_first_never_waits(
    system: OrderSystem,
) -> None:
    await system.alarms.remind()
    system.clock.passes(minutes=5)
    stuck = [Finding(AlarmKind.ORDER_STUCK, is_wrong=True, subject=f"R2345{number:02}") for number in range(30)]
    slow = [Finding(AlarmKind.DESTINATION_SLOW, is_wrong=True, subject=name) for name in ("BCA", "BRI")]
    got = list[tuple[int, str]]()
    for second in range(0, 600, 2):
        await system.alarms.record_findings([*stuck[second // 2 : second // 2 + 1], *slow[second // 2 :][:1]], ())
        await system.alarms.remind()
        await system.deliver()
        got += [(second, kind) for kind in system.sender.kinds(OSCAR)[len(got) :]]
        system.clock.passes(seconds=2)
    raised, reminder = AlarmNotification.RAISED, AlarmNotification.REMINDER
    assert got == [(0, raised), (0, raised), (60, reminder)], "urgent ones, and others, have a first one each"
    assert len(await system.alarms.find_open()) == 32


async def test_of_what_is_over_before_it_was_in_a_message_nothing_is_said(system: OrderSystem) -> None:
    first, second = (Finding(AlarmKind.ORDER_STUCK, is_wrong=True, subject=each) for each in ("R234567", "R234568"))
    await system.alarms.remind()
    system.clock.passes(minutes=5)
    await system.alarms.record_findings([first, second], ())
    system.clock.passes(seconds=30)
    await system.alarms.record_findings([replace(second, is_wrong=False)], await system.alarms.find_open())
    system.clock.passes(minutes=1)
    assert not await system.alarms.remind()
    assert await received_kinds(system) == [AlarmNotification.RAISED]
    system.clock.passes(seconds=1)
    await system.alarms.record_findings([second], ())
    assert await received_kinds(system) == [AlarmNotification.RAISED] * 2, "a minute after the first it is a first one"


async def test_of_two_operators_who_press_at_once_one_is_on_it(system: OrderSystem, other_system: OrderSystem) -> None:
    system.health.record_rejected_key()
    await system.deliver()
    pressed = (system.alarms.take(OSCAR, AlarmKind.KEY_REFUSED), other_system.alarms.take(OLGA, AlarmKind.KEY_REFUSED))
    assert sorted(await asyncio.gather(*pressed)) == [False, True]
    (alarm,) = await system.alarms.find_open()
    assert alarm.taken_by in {OSCAR, OLGA}
    assert alarm.taken_at == system.clock.now()


async def test_an_alarm_that_a_former_operator_was_on_is_free_again(system: OrderSystem) -> None:
    system.health.record_rejected_key()
    await system.deliver()
    assert await system.alarms.take(OLGA, AlarmKind.KEY_REFUSED)
    await system.alarms.begin_to_lead()
    (alarm,) = await system.alarms.find_open()
    assert alarm.repeats


async def test_an_alarm_that_has_ended_is_not_taken_and_not_repeated(system: OrderSystem) -> None:
    system.health.record_rejected_key()
    await system.deliver()
    await system.alarms.remind()
    system.clock.passes(minutes=10)
    assert await system.alarms.remind()
    system.health.record_answer()
    await system.check_service()
    assert not await system.alarms.take(OSCAR, AlarmKind.KEY_REFUSED)
    system.clock.passes(minutes=10)
    assert not await system.alarms.remind()

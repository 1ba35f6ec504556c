"""Operators hear that the key is refused, once an incident, whoever noticed it, and that it works again."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from bot.infra.db.errors import StoreDown
from bot.settlement.health import Health
from bot.settlement.model import KeyRefused, OrderNotFound, OutcomeUnknown, OutOfReach, Refused, ServiceDown, SlowDown
from bot.settlement.monitored import MonitoredSettlement
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarm_subjects import AlarmSubjects
from bot.staff.alarms import Alarms, Finding
from bot.staff.notifications import AlarmNotification
from tests.orders.order_world import OSCAR, REQUEST, House
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
def watched(house: House) -> MonitoredSettlement:
    return MonitoredSettlement(house.service, house.health)


async def heard(house: House) -> list[str]:
    await house.tells()
    return house.ears.kinds(OSCAR)


async def test_an_incident_is_told_once_and_its_end_once(house: House) -> None:
    for _ in range(3):
        house.health.refused()
        await house.tells()
    for _ in range(3):
        house.health.answered()
        await house.tells()
    assert house.ears.kinds(OSCAR) == [AlarmNotification.KEY_REFUSED, AlarmNotification.KEY_WORKS]


async def test_a_second_incident_is_told_anew_even_within_the_same_second(house: House) -> None:
    house.health.refused()
    await house.tells()
    house.health.answered()
    await house.tells()
    house.clock.passes(milliseconds=1)
    house.health.refused()
    assert await heard(house) == [
        AlarmNotification.KEY_REFUSED,
        AlarmNotification.KEY_WORKS,
        AlarmNotification.KEY_REFUSED,
    ]


async def test_a_hundred_who_raise_it_at_once_raise_one(house: House, other_house: House) -> None:
    both = [house.alarms, other_house.alarms] * 50
    assert sum(await asyncio.gather(*(alarms.take_in([REFUSED]) for alarms in both))) == 1
    assert await heard(house) == [AlarmNotification.KEY_REFUSED]


async def test_a_restart_repeats_no_alarm_and_tells_its_end(house: House, file: str, service: FakeSettlement) -> None:
    house.health.refused()
    assert await heard(house) == [AlarmNotification.KEY_REFUSED]
    house.clock.passes(minutes=5)
    again = House(file, service)
    again.health.refused()
    assert await heard(again) == []
    again.health.answered()
    assert await heard(again) == [AlarmNotification.KEY_WORKS]
    await again.leave()


async def test_an_alarm_that_could_not_be_kept_is_raised_by_the_next_look(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise StoreDown

    house.health.refused()
    with monkeypatch.context() as patched:
        patched.setattr(house.store, "transaction", away)
        with pytest.raises(StoreDown):
            await house.watching.hear()
    assert await heard(house) == [AlarmNotification.KEY_REFUSED]


async def test_every_operator_hears_it(house: House) -> None:
    alarms = Alarms(house.store, house.clock, frozenset({OSCAR, 2002}), subjects=AlarmSubjects())
    await alarms.take_in([REFUSED])
    await house.tells()
    assert {each.chat_id for each in house.ears.heard} == {OSCAR, 2002}


@pytest.mark.parametrize("call", CALLS)
async def test_any_refused_read_is_noticed_and_any_answer_ends_it(
    house: House, watched: MonitoredSettlement, service: FakeSettlement, call: Callable[..., Awaitable[object]]
) -> None:
    service.make(REQUEST)
    service.reads.append(KeyRefused())
    with pytest.raises(KeyRefused):
        await call(watched)
    assert await heard(house) == [AlarmNotification.KEY_REFUSED]
    await call(watched)
    assert await heard(house) == [AlarmNotification.KEY_REFUSED, AlarmNotification.KEY_WORKS]


async def test_a_refused_post_is_noticed_and_a_made_order_ends_it(
    house: House, watched: MonitoredSettlement, service: FakeSettlement
) -> None:
    service.places.append(KeyRefused())
    with pytest.raises(KeyRefused):
        await watched.place(REQUEST)
    assert await heard(house) == [AlarmNotification.KEY_REFUSED]
    assert (await watched.place(REQUEST)).service_id == "svc-1"
    assert await heard(house) == [AlarmNotification.KEY_REFUSED, AlarmNotification.KEY_WORKS]


@pytest.mark.parametrize("failure", [OrderNotFound(), ServiceDown(), SlowDown(1)])
async def test_only_an_answer_to_our_key_ends_the_alarm(
    house: House, watched: MonitoredSettlement, service: FakeSettlement, failure: Exception
) -> None:
    house.health.refused()
    service.reads.append(failure)
    with pytest.raises(type(failure)):
        await watched.look_up("svc-1")
    assert house.health.key_is_taken is isinstance(failure, OrderNotFound)


@pytest.mark.parametrize("failure", [Refused("no"), OutOfReach(), OutcomeUnknown()])
async def test_a_refused_wish_shows_that_the_key_is_taken(
    house: House, watched: MonitoredSettlement, service: FakeSettlement, failure: Exception
) -> None:
    house.health.refused()
    service.places.append(failure)
    with pytest.raises(type(failure)):
        await watched.place(REQUEST)
    assert house.health.key_is_taken is isinstance(failure, Refused)


async def test_an_answer_never_waits_for_the_database_in_which_alarms_are_kept(
    house: House, watched: MonitoredSettlement, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise StoreDown

    house.health.refused()
    monkeypatch.setattr(house.store, "transaction", away)
    monkeypatch.setattr(house.store, "reading", away)
    assert (await watched.place(REQUEST)).service_id == "svc-1"


async def test_the_watch_is_called_at_once_when_the_key_is_refused_or_taken_again(house: House) -> None:
    calls = 0

    def call() -> None:
        nonlocal calls
        calls += 1

    health = Health(house.clock, house.orders.rules.poll_interval, call)
    for heard_of in (health.answered, health.refused, health.refused, health.failed, health.answered):
        heard_of()
    assert calls == 3

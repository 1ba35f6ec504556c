"""Operators hear that the key is refused, once an incident, whoever noticed it, and that it works again."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from bot.actions.alarms import KeyAlarm
from bot.actions.ports import (
    KeyRefused,
    OrderNotFound,
    OutcomeUnknown,
    OutOfReach,
    Refused,
    ServiceDown,
    SlowDown,
    StoreDown,
    Wish,
)
from bot.actions.watched import WatchedSettlement
from bot.domain.money import Amount
from bot.domain.order import Notice
from tests.integration.order_world import OSCAR, House
from tests.unit.fake_settlement import BCA, FakeSettlement

WISH = Wish(method=BCA, number="1234567890", holder=None, given=Amount("IDR", 50_000), channel="lightning")
CALLS: list[Callable[[WatchedSettlement], Awaitable[object]]] = [
    lambda service: service.quote(),
    lambda service: service.payout_methods(),
    lambda service: service.deposit_channels(),
    lambda service: service.deposit_rails(),
    lambda service: service.platform_stats(),
    lambda service: service.look_up("svc-1"),
    lambda service: service.newest(),
]


@pytest.fixture
def watched(house: House) -> WatchedSettlement:
    return WatchedSettlement(house.service, house.alarm)


async def heard(house: House) -> list[str]:
    await house.tells()
    return house.ears.kinds(OSCAR)


async def test_an_incident_is_told_once_and_its_end_once(house: House) -> None:
    assert [await house.alarm.refused() for _ in range(3)] == [True, False, False]
    assert house.alarm.is_raised
    assert [await house.alarm.works() for _ in range(3)] == [True, False, False]
    assert await heard(house) == [Notice.STAFF_KEY_REFUSED, Notice.STAFF_KEY_WORKS]


async def test_a_second_incident_is_told_anew_even_within_the_same_second(house: House) -> None:
    await house.alarm.refused()
    await house.alarm.works()
    house.clock.passes(milliseconds=1)
    await house.alarm.refused()
    assert await heard(house) == [Notice.STAFF_KEY_REFUSED, Notice.STAFF_KEY_WORKS, Notice.STAFF_KEY_REFUSED]


async def test_a_hundred_refusals_at_once_are_one_alarm(house: House) -> None:
    answers = await asyncio.gather(*(house.alarm.refused() for _ in range(100)))
    assert answers.count(True) == 1
    assert await heard(house) == [Notice.STAFF_KEY_REFUSED]


async def test_an_alarm_that_could_not_be_kept_is_raised_by_the_next_refusal(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise StoreDown

    with monkeypatch.context() as patched:
        patched.setattr(house.store, "transaction", away)
        with pytest.raises(StoreDown):
            await house.alarm.refused()
    assert await house.alarm.refused()
    assert await heard(house) == [Notice.STAFF_KEY_REFUSED]


async def test_every_operator_hears_it(house: House) -> None:
    alarm = KeyAlarm(house.store, house.clock, frozenset({OSCAR, 2002}))
    await alarm.refused()
    await house.tells()
    assert {each.chat_id for each in house.ears.heard} == {OSCAR, 2002}


@pytest.mark.parametrize("call", CALLS)
async def test_any_refused_read_is_noticed_and_any_answer_ends_it(
    house: House, watched: WatchedSettlement, service: FakeSettlement, call: Callable[..., Awaitable[object]]
) -> None:
    service.make(WISH)
    service.reads.append(KeyRefused())
    with pytest.raises(KeyRefused):
        await call(watched)
    await call(watched)
    assert await heard(house) == [Notice.STAFF_KEY_REFUSED, Notice.STAFF_KEY_WORKS]


async def test_a_refused_post_is_noticed_and_a_made_order_ends_it(
    house: House, watched: WatchedSettlement, service: FakeSettlement
) -> None:
    service.places.append(KeyRefused())
    with pytest.raises(KeyRefused):
        await watched.place(WISH)
    assert (await watched.place(WISH)).service_id == "svc-1"
    assert await heard(house) == [Notice.STAFF_KEY_REFUSED, Notice.STAFF_KEY_WORKS]


@pytest.mark.parametrize("failure", [OrderNotFound(), ServiceDown(), SlowDown(1)])
async def test_only_an_answer_to_our_key_ends_the_alarm(
    house: House, watched: WatchedSettlement, service: FakeSettlement, failure: Exception
) -> None:
    await house.alarm.refused()
    service.reads.append(failure)
    with pytest.raises(type(failure)):
        await watched.look_up("svc-1")
    assert house.alarm.is_raised is not isinstance(failure, OrderNotFound)


@pytest.mark.parametrize("failure", [Refused("no"), OutOfReach(), OutcomeUnknown()])
async def test_a_refused_wish_shows_that_the_key_is_taken(
    house: House, watched: WatchedSettlement, service: FakeSettlement, failure: Exception
) -> None:
    await house.alarm.refused()
    service.places.append(failure)
    with pytest.raises(type(failure)):
        await watched.place(WISH)
    assert house.alarm.is_raised is not isinstance(failure, Refused)


async def test_an_answer_is_not_lost_with_an_alarm_that_cannot_be_kept(
    house: House, watched: WatchedSettlement, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.alarm.refused()

    def away() -> None:
        raise StoreDown

    monkeypatch.setattr(house.store, "transaction", away)
    assert (await watched.place(WISH)).service_id == "svc-1"
    assert house.alarm.is_raised

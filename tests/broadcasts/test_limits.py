"""The limiter in virtual time: broadcasts beside other messages, at an even rate."""

import asyncio

import pytest

from bot.infra.telegram.errors import SlowDown
from bot.infra.telegram.outbound.limiter import ON_SEND
from bot.infra.telegram.outbound.pace import AdaptiveRate, EvenPace, Limits
from bot.infra.telegram.outbound.scheduler import Call
from tests.infra.telegram_wire import Wire, most_in_any
from tests.virtual_time import in_virtual_time, now


@in_virtual_time
async def test_what_is_refused_in_bulk_goes_back_to_its_sender_at_once() -> None:
    wire = Wire()
    wire.refusals[1] = [3600.0]
    with pytest.raises(SlowDown):
        await wire.send(1, "bulk")
    assert len(wire.times(1)) == 1
    begin = now()
    await wire.send(2, "bulk")
    assert now() - begin < 0.1, "no other chat waits for it"


@in_virtual_time
async def test_a_broadcast_may_be_slower_than_the_rest() -> None:
    wire = Wire(Limits(bulk_per_second=5))
    broadcast = [asyncio.create_task(wire.send(chat, "bulk")) for chat in range(1, 26)]
    await asyncio.gather(*broadcast, *(wire.send(chat, "talk") for chat in range(100, 150)))
    assert most_in_any(1.0, wire.times(priority="bulk")) <= 6
    assert wire.times(priority="talk")[-1] - wire.times()[0] < 2.2


@in_virtual_time
async def test_a_broadcast_that_is_paid_for_has_a_pace_of_its_own() -> None:
    wire = Wire(Limits(start_per_second=20, most_per_second=20, bulk_per_second=100))
    broadcast = [asyncio.create_task(wire.send(chat, "bulk", paid=True)) for chat in range(1, 401)]
    await asyncio.gather(*broadcast, *(wire.send(chat, "money") for chat in range(1000, 1030)))
    took = wire.times(priority="bulk")[-1] - wire.times(priority="bulk")[0]
    assert took == pytest.approx(4.0, abs=0.1)
    begin = now()
    await asyncio.gather(*(wire.send(chat, "bulk") for chat in range(2000, 2060)))
    assert now() - begin > 2.9, "what isn't paid for keeps to the limit of all"
    assert most_in_any(1.0, wire.times(priority="money")) <= 21


@in_virtual_time
async def test_edits_do_not_delay_messages() -> None:
    wire = Wire(Limits(start_per_second=29.7, most_per_second=29.7))
    edits = [asyncio.create_task(wire.send(chat, endpoint="editMessageText")) for chat in range(100, 160)]
    await asyncio.gather(*edits, *(wire.send(chat, "bulk") for chat in range(1, 61)))
    sent = [at for at, chat, _, _ in wire.sent if chat < 100]
    assert sent[-1] - sent[0] == pytest.approx(59 / 29.7, abs=0.01)
    assert most_in_any(1.0, [at for at, chat, _, _ in wire.sent if chat >= 100]) <= 30


@in_virtual_time
async def test_a_waiting_sender_knows_whether_the_request_has_started() -> None:
    wire, left = Wire(), []
    ON_SEND.set(lambda: left.append(now()))
    wire.limiter._scheduler.slow_down(Call(1, "talk"), 5.0)
    waiting = asyncio.create_task(wire.send(1, "bulk"))
    await asyncio.sleep(1)
    assert left == []
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await asyncio.sleep(5)
    await wire.send(1, "bulk")
    assert left == wire.times(1)


def test_a_late_timer_keeps_the_rate_but_a_long_pause_causes_no_burst() -> None:
    line = EvenPace(AdaptiveRate(10, 10))
    line.take_slot(waited_since=0.0, now=0.0)
    assert line.get_next_slot() == pytest.approx(0.1)
    line.take_slot(waited_since=0.0, now=0.16)
    assert line.get_next_slot() == pytest.approx(0.2), "counted from the slot, which was missed by 0.06"
    line.take_slot(waited_since=0.0, now=5.0)
    assert line.get_next_slot() == pytest.approx(5.0), "a tenth of a second is made good, and no more"
    line.take_slot(waited_since=9.0, now=9.0)
    assert line.get_next_slot() == pytest.approx(9.1), "nobody waited, so nothing is made good"

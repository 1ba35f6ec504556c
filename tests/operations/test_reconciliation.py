"""The service's list is compared with our rows: each difference is named, and nothing else is."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from bot.core.money import Amount
from bot.operations.reconciliation.model import DifferenceKind, ListedSpan
from bot.operations.reconciliation.service import MAX_ALARMS, MAX_READ_AGAIN
from bot.orders.order import Order, Phase
from bot.settlement.errors import KeyRefused, NoAnswer, SlowDown
from bot.settlement.model import NewestOrders, OrderReport
from bot.staff.model import AlarmKind
from bot.staff.notifications import AlarmNotification
from tests.operations.reconciled import (
    alarms,
    change_record,
    change_row,
    found,
    make_orders_of_others,
    minutes,
    pay,
    reconcile,
    reconciliation_of,
)
from tests.orders.order_system import EMMA, OSCAR, REQUEST, SARI, OrderSystem
from tests.settlement.fake_settlement import FakeSettlement

SENT = ("LN_INVOICE_PAID", "USDT_RECEIVED", "IDR_SETTLED", "COMPLETED")
DEPOSIT: dict[str, Any] = {"channel": "cbbtc", "amount": Amount("SAT", 25_000)}


class During:
    """A settlement service that something happens to right after it has made its list."""

    def __init__(self, system: OrderSystem, event: Any) -> None:
        self._settlement, self._event = system.settlement, event

    async def newest(self, limit: int = 100) -> NewestOrders:
        newest = await self._settlement.newest(limit)
        await self._event()
        return newest

    async def look_up(self, service_id: str) -> OrderReport:
        found: OrderReport = await self._settlement.look_up(service_id)
        return found


async def fill_list(system: OrderSystem) -> None:
    """Let the list be full of orders of other programs, of which the newest are at least a minute old."""
    make_orders_of_others(system, 100)
    system.clock.passes(minutes=2)


async def place_two_takers(system: OrderSystem, service: FakeSettlement) -> tuple[Order, OrderReport]:
    """Place a deposit, and let another program order one of the same sum."""
    ours = await system.place(**DEPOSIT)
    assert ours.phase is Phase.OPEN
    assert ours.sats is not None
    created = service.make(replace(REQUEST, channel="cbbtc", amount=Amount("SAT", ours.sats)))
    return ours, service.records[created.service_id]


async def test_five_planted_differences_are_all_named(system: OrderSystem, service: FakeSettlement) -> None:
    await fill_list(system)
    missing, amount, state, unfollowed = [await system.place(user) for user in (EMMA, SARI, 1003, 1004)]
    shared, _ = await place_two_takers(system, service)
    await pay(system, state, *SENT)
    await pay(system, missing)
    make_orders_of_others(system, 5)
    assert found(await reconcile(system)) == {(DifferenceKind.SHARED_DEPOSIT, shared.reference)}
    del service.records[missing.service_id or ""]
    change_record(system, amount, idr=(amount.idr or 0) + 1)
    change_record(system, state, state="FAILED")
    await change_row(system, unfollowed, phase=Phase.ABANDONED, next_poll_at=None)
    change_record(system, unfollowed, state="LN_INVOICE_PAID", paid_at=service.now())
    run = await reconcile(system)
    assert found(run) == {
        (DifferenceKind.MISSING, missing.reference),
        (DifferenceKind.AMOUNT, amount.reference),
        (DifferenceKind.STATE, state.reference),
        (DifferenceKind.UNFOLLOWED, unfollowed.reference),
        (DifferenceKind.SHARED_DEPOSIT, shared.reference),
    }
    assert await alarms(system) == {
        (AlarmKind.ORDER_MISSING, missing.reference),
        (AlarmKind.AMOUNT_DIFFERS, amount.reference),
        (AlarmKind.STATE_DIFFERS, state.reference),
        (AlarmKind.PAID_UNFOLLOWED, unfollowed.reference),
        (AlarmKind.DEPOSIT_SHARED, shared.reference),
    }
    assert (run.ours, run.others) == (4, 96)
    raised = [AlarmNotification.RAISED] * 3
    assert system.sender.kinds(OSCAR) == raised, "the others wait for the message of all that was raised in a minute"
    await reconcile(system)
    assert system.sender.kinds(OSCAR) == raised, "a run that finds the same adds nothing"


async def test_alarms_end_when_a_later_run_no_longer_finds_the_differences(
    system: OrderSystem, service: FakeSettlement
) -> None:
    await fill_list(system)
    missing, amount, state = [await system.place(user) for user in (EMMA, SARI, 1003)]
    _, other = await place_two_takers(system, service)
    await pay(system, state, *SENT)
    gone = service.records.pop(missing.service_id or "")
    change_record(system, amount, sats=1)
    change_record(system, state, state="FAILED")
    assert len(found(await reconcile(system))) == 4
    service.records[gone.service_id] = gone
    change_record(system, amount, sats=amount.sats)
    change_record(system, state, state="COMPLETED")
    service.becomes(other.service_id, "FAILED")
    run = await reconcile(system, after=600)
    assert found(run) == set()
    assert await alarms(system) == set()
    assert system.sender.kinds(OSCAR).count(AlarmNotification.CLEARED) == 4


@pytest.mark.parametrize("listed", [0, 40])
async def test_a_short_or_empty_list_proves_nothing(system: OrderSystem, service: FakeSettlement, listed: int) -> None:
    order = await system.place()
    await pay(system, order)
    make_orders_of_others(system, listed)
    service.listed = bool(listed)
    run = await reconcile(system)
    assert (run.is_conclusive, run.shown, run.differences) == (False, None, ())
    report = await reconciliation_of(system).load_report()
    assert (report.known_since, report.unseen) == (None, ())


async def test_what_the_poller_reads_meanwhile_makes_no_difference(
    system: OrderSystem, service: FakeSettlement
) -> None:
    await fill_list(system)
    paid, sent, new = await system.place(EMMA), await system.place(SARI), []
    await pay(system, sent, *SENT[:-1])

    async def meanwhile() -> None:
        service.becomes(paid.service_id or "", "LN_INVOICE_PAID")
        service.becomes(sent.service_id or "", "COMPLETED")
        await system.poll()
        new.append(await system.place(1003))

    run = await reconcile(system, settlement=During(system, meanwhile))
    assert (await system.order(sent.reference)).is_ended
    assert new
    assert (run.differences, run.unchecked) == ((), 0)


async def test_a_state_that_the_poller_has_not_read_yet_is_on_its_way(
    system: OrderSystem, service: FakeSettlement
) -> None:
    await fill_list(system)
    order = await system.place()
    service.becomes(order.service_id or "", "LN_INVOICE_PAID")
    run = await reconcile(system)
    assert (run.differences, [each.reference for each in run.pending]) == ((), [order.reference])
    await system.poll()
    run = await reconcile(system)
    assert (run.differences, run.pending) == ((), ())


async def test_a_state_that_stays_unread_for_a_quarter_of_an_hour_is_a_difference(
    system: OrderSystem, service: FakeSettlement
) -> None:
    await fill_list(system)
    order = await system.place()
    service.becomes(order.service_id or "", "LN_INVOICE_PAID")
    for _ in range(15):
        assert (await reconcile(system)).differences == ()
    run = await reconcile(system)
    assert found(run) == {(DifferenceKind.STATE, order.reference)}
    assert await alarms(system) == {(AlarmKind.STATE_DIFFERS, order.reference)}


@pytest.mark.parametrize("failure", [NoAnswer, SlowDown, KeyRefused])
async def test_what_cannot_be_read_again_is_not_judged(
    system: OrderSystem, service: FakeSettlement, failure: type[Exception]
) -> None:
    await fill_list(system)
    order, other = await system.place(EMMA), await system.place(SARI)
    change_record(system, order, idr=1)

    async def trouble() -> None:
        service.reads.extend([failure()])

    run = await reconcile(system, settlement=During(system, trouble))
    assert (run.differences, run.unchecked) == ((), 1)
    assert await alarms(system) == set()
    assert found(await reconcile(system)) == {(DifferenceKind.AMOUNT, order.reference)}
    system.clock.passes(minutes=10)
    change_record(system, other, idr=1)
    run = await reconcile(system, settlement=During(system, trouble))
    assert (DifferenceKind.AMOUNT, order.reference) in found(run), "what was known is kept"
    assert (AlarmKind.AMOUNT_DIFFERS, order.reference) in await alarms(system)


async def test_what_an_operator_has_handled_is_not_reported_again_until_it_changes(
    system: OrderSystem, service: FakeSettlement
) -> None:
    await fill_list(system)
    order = await system.place()
    change_record(system, order, idr=1)
    await reconcile(system)
    assert await system.monitor.resolve(AlarmKind.AMOUNT_DIFFERS, order.reference, OSCAR)
    assert found(await reconcile(system)) == {(DifferenceKind.AMOUNT, order.reference)}
    assert await alarms(system) == set()
    assert (await reconciliation_of(system).load_report()).not_alarmed == 0
    change_record(system, order, idr=2)
    await reconcile(system)
    assert await alarms(system) == {(AlarmKind.AMOUNT_DIFFERS, order.reference)}
    assert service.records


async def test_many_differences_at_once_raise_a_few_alarms_and_a_few_requests(
    system: OrderSystem, service: FakeSettlement
) -> None:
    await fill_list(system)
    orders = [await system.place(2000 + number) for number in range(40)]
    for order in orders:
        change_record(system, order, idr=1)
    before = service.times("look_up")
    run = await reconcile(system)
    assert service.times("look_up") - before == MAX_READ_AGAIN
    assert (len(run.differences), run.unchecked) == (MAX_READ_AGAIN, 40 - MAX_READ_AGAIN)
    assert len(await alarms(system)) == MAX_ALARMS
    report = await reconciliation_of(system).load_report()
    assert report.not_alarmed == MAX_READ_AGAIN - MAX_ALARMS
    before = service.times("look_up")
    run = await reconcile(system)
    assert service.times("look_up") - before == 40 - MAX_READ_AGAIN, "known ones are read every ten minutes"
    assert len(run.differences) == 40


async def test_two_processes_raise_one_alarm(
    system: OrderSystem, other_system: OrderSystem, service: FakeSettlement
) -> None:
    await fill_list(system)
    order = await system.place()
    change_record(system, order, idr=1)
    system.clock.passes(minutes=1)
    await asyncio.gather(reconciliation_of(system).run(), reconciliation_of(other_system).run())
    await reconcile(system)
    await reconcile(other_system)
    assert system.sender.kinds(OSCAR) == [AlarmNotification.RAISED]
    assert other_system.sender.kinds(OSCAR) == []
    assert service.records


async def test_times_that_no_list_has_shown_are_named(system: OrderSystem, service: FakeSettlement) -> None:
    make_orders_of_others(system, 120)
    first = await reconcile(system, after=0)
    assert first.shown == ListedSpan(first.asked_at - 99 * minutes(0.5), first.asked_at)
    make_orders_of_others(system, 50)
    second = await reconcile(system, after=0)
    report = await reconciliation_of(system).load_report()
    assert (report.known_since, report.unseen) == (first.shown.since, ())
    await system.place()
    make_orders_of_others(system, 150)
    third = await reconcile(system, after=0)
    assert third.shown is not None
    report = await reconciliation_of(system).load_report()
    assert [each.span for each in report.unseen] == [ListedSpan(second.asked_at, third.shown.since)]
    assert [each.ours for each in report.unseen] == [1]
    assert service.records

"""The sender and the staff are notified once of a paid order that takes too long. Then it continues."""

import asyncio
from functools import partial
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.infra.db.errors import StoreDown
from bot.orders.notifications import OrderNotification
from bot.orders.order import EventNote, Order, Phase, mark_overdue
from bot.orders.repository import OrderRepository
from bot.orders.tracking import tracker
from bot.settlement.errors import KeyRefused
from bot.staff.model import AlarmKind
from bot.staff.notifications import AlarmNotification
from bot.support.notifications import StaffNotification, TicketNotification
from tests.orders.crashes import Crash, CrashCountdown, CrashingSender, CrashingStore
from tests.orders.order_system import EMMA, OSCAR, SARI, OrderSystem, SentMessage, rules
from tests.settlement.builders import a_report
from tests.settlement.fake_settlement import FakeSettlement, failing

RINA = 3001
STAFFED = rules(support_ids=frozenset({RINA}))


@pytest.fixture
def system(file: str, service: FakeSettlement) -> OrderSystem:
    """The staff are an operator and a support agent. Paid orders may take half an hour."""
    return OrderSystem(file, service, rules=STAFFED)


@pytest.fixture(autouse=True)
async def _leaves(system: OrderSystem) -> Any:
    yield
    await system.close()


async def paid(system: OrderSystem, **changes: Any) -> Order:
    """Return an order whose payment has just arrived and been reported."""
    order = await system.place(**changes)
    system.service.becomes("svc-1", "LN_INVOICE_PAID")
    await system.poll()
    system.sender.sent.clear()
    return await system.order(order.reference)


async def pass_time(system: OrderSystem, minutes: float) -> None:
    """Let time pass, and poll the order every five seconds."""
    system.clock.passes(minutes=minutes)
    await system.poller.tick()
    await system.tracker.check_deadlines()
    await system.deliver()


async def test_a_paid_order_that_is_not_done_in_time_is_told_once_to_sender_and_staff(system: OrderSystem) -> None:
    order = await paid(system)
    await pass_time(system, 29.9)
    assert system.sender.kinds() == []
    for _ in range(5):
        await pass_time(system, 1)
    assert system.sender.edits_and_messages() == [OrderNotification.EDIT_STATUS, OrderNotification.OVERDUE]
    assert system.sender.kinds(OSCAR) == [AlarmNotification.RAISED]
    assert system.sender.kinds(RINA) == [StaffNotification.NEW_CARD]
    known = await system.order(order.reference)
    assert known.is_overdue
    async with system.store.reading() as tx:
        assert [event.note for event in await OrderRepository(tx).events(order.reference)][-1] == EventNote.OVERDUE


@pytest.mark.parametrize(
    ("state", "notifications", "staff"),
    [
        ("COMPLETED", [OrderNotification.SENT, TicketNotification.CLOSED], [AlarmNotification.CLEARED]),
        ("FAILED", [OrderNotification.FAILED], [AlarmNotification.RAISED]),
    ],
)
async def test_a_stuck_order_is_followed_and_its_end_is_told_as_any_other(
    system: OrderSystem, state: str, notifications: list[OrderNotification], staff: list[OrderNotification]
) -> None:
    order = await paid(system)
    await pass_time(system, 31)
    system.sender.sent.clear()
    system.service.becomes("svc-1", state)
    await pass_time(system, 1)
    assert system.sender.edits_and_messages() == [OrderNotification.EDIT_STATUS, *notifications]
    assert system.sender.kinds(OSCAR) == staff
    ended = await system.order(order.reference)
    assert (ended.phase, ended.is_overdue) == (Phase.DONE, False)


@pytest.mark.parametrize("end", ["alarm_cleared", "alarm_closed"])
async def test_the_log_has_the_alarm_with_its_order_and_its_end(system: OrderSystem, end: str) -> None:
    order = await paid(system)
    with capture_logs() as logs:
        await pass_time(system, 31)
        if end == "alarm_closed":
            await system.monitor.resolve(AlarmKind.ORDER_STUCK, order.reference, OSCAR)
        system.service.becomes("svc-1", "COMPLETED")
        await pass_time(system, 1)
    alarms = [(each["event"], each["alarm"], each["order"]) for each in logs if each["event"].startswith("alarm_")]
    assert alarms == [(event, AlarmKind.ORDER_STUCK, order.reference) for event in ("alarm_raised", end)]


async def test_a_failure_after_the_payment_is_told_to_the_staff_by_itself_and_once(system: OrderSystem) -> None:
    order = await paid(system)
    report = a_report(service_id="svc-1", state="FAILED")
    await asyncio.gather(*(system.apply_report(order.reference, report) for _ in range(4)))
    await system.deliver()
    assert system.sender.edits_and_messages() == [OrderNotification.EDIT_STATUS, OrderNotification.FAILED]
    assert system.sender.kinds(OSCAR) == [AlarmNotification.RAISED]
    assert system.sender.kinds(RINA) == [StaffNotification.NEW_CARD]


async def test_a_failure_of_an_unpaid_order_is_nothing_to_the_staff(system: OrderSystem) -> None:
    await system.place()
    system.service.becomes("svc-1", "FAILED")
    await system.poll()
    assert OrderNotification.FAILED in system.sender.kinds()
    assert system.sender.kinds(OSCAR) == []


async def test_an_unpaid_order_is_never_stuck_however_long_it_waits(system: OrderSystem) -> None:
    await system.place(channel="cbbtc")
    for _ in range(3):
        await pass_time(system, 60 * 24)
    assert OrderNotification.OVERDUE not in system.sender.kinds()


async def test_what_ended_while_the_bot_was_away_is_not_called_stuck_before_it_is_looked_at(
    system: OrderSystem, file: str, service: FakeSettlement
) -> None:
    await paid(system)
    system.clock.passes(hours=3)
    service.becomes("svc-1", "COMPLETED")
    after_a_pause = OrderSystem(file, service, rules=STAFFED)
    assert await after_a_pause.tracker.check_deadlines() == 0
    await after_a_pause.poll(after=0)
    assert await after_a_pause.tracker.check_deadlines() == 0
    assert after_a_pause.sender.edits_and_messages() == [
        OrderNotification.EDIT_STATUS,
        OrderNotification.SENT,
    ]
    await after_a_pause.close()


async def test_a_service_that_cannot_be_asked_keeps_nobody_from_being_told(system: OrderSystem) -> None:
    await paid(system)
    system.service.reads.extend(failing(KeyRefused, 1000))
    await pass_time(system, 31)
    assert system.sender.kinds() == []
    await pass_time(system, 2)
    assert system.sender.edits_and_messages() == [OrderNotification.EDIT_STATUS, OrderNotification.OVERDUE]


async def test_two_processes_tell_it_once(system: OrderSystem, other_system: OrderSystem) -> None:
    await paid(system)
    system.clock.passes(minutes=31)
    await system.poller.tick()
    await asyncio.gather(*(each.tracker.check_deadlines() for each in [system, other_system] * 4))
    await system.deliver()
    await other_system.deliver()
    sent = system.sender.kinds() + other_system.sender.kinds()
    assert [kind for kind in sent if kind == OrderNotification.OVERDUE] == [OrderNotification.OVERDUE]


async def test_nothing_is_lost_or_doubled_wherever_the_bot_is_killed_while_it_tells(
    system: OrderSystem, file: str, service: FakeSettlement
) -> None:
    await paid(system)
    system.clock.passes(minutes=31)
    await system.poller.tick()
    moments, sent = 0, list[SentMessage]()
    for at in range(20):
        countdown = CrashCountdown(at)
        first = OrderSystem(
            file,
            service,
            rules=STAFFED,
            wrap=partial(CrashingStore, countdown=countdown),
            sender=CrashingSender(service.clock, countdown, sent),
        )
        await run_process(first)
        moments += 1
        service.clock.passes(minutes=1)
        if countdown.remaining:
            break
    kinds = [(each.chat_id, each.kind) for each in sent]
    for chat, notice in (
        (EMMA, OrderNotification.OVERDUE),
        (OSCAR, AlarmNotification.RAISED),
        (RINA, StaffNotification.NEW_CARD),
    ):
        notifications = [each for each in sent if (each.chat_id, each.kind) == (chat, notice)]
        assert notifications, kinds
        assert [each.maybe_sent for each in notifications[1:]] == [True] * len(notifications[1:]), (
            "a repetition says so"
        )
    assert moments > 4


async def run_process(system: OrderSystem) -> None:
    """Run one process, which continues where the last one ended. It may be killed at any step."""
    try:
        await system.tracker.check_deadlines()
        while await system.delivery.start_due():
            tasks = system.delivery._list_tasks()
            await system.delivery.wait_until_sent()
            if any(isinstance(task.exception(), Crash) for task in tasks):
                break
    except Crash:
        pass
    await system.close()


async def test_one_order_that_fails_stops_no_other_from_being_told(
    system: OrderSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = await paid(system), await system.place(SARI, number="8720999999")
    system.service.becomes("svc-2", "LN_INVOICE_PAID")
    await system.poll()
    marks = mark_overdue

    def fail(order: Order, *more: Any) -> Any:
        if order.reference == bad.reference:
            raise StoreDown
        return marks(order, *more)

    monkeypatch.setattr(tracker, "mark_overdue", fail)
    await pass_time(system, 31)
    assert (await system.order(bad.reference)).overdue_notified_at is None
    assert (await system.order(good.reference)).overdue_notified_at is not None


async def test_a_step_of_the_check_that_fails_stops_no_other_step(
    system: OrderSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = await paid(system)
    await pass_time(system, 29)

    async def fail() -> int:
        raise StoreDown

    monkeypatch.setattr(system.tracker, "put_off_unreadable", fail)
    system.clock.passes(minutes=5)
    await system.poller.tick()
    await system.tracker.tick()
    assert (await system.order(order.reference)).overdue_notified_at is not None

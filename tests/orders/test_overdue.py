"""The sender and the staff are notified once of a paid order that takes too long. Then it continues."""

from functools import partial
from typing import Any

import pytest

from bot.orders.notifications import OrderNotification
from bot.orders.order import EventNote, Order, Phase
from bot.orders.repository import OrderRepository
from bot.staff.model import AlarmKind
from bot.staff.notifications import AlarmNotification
from bot.staff.outcomes import Outcome
from bot.support.notifications import StaffNotification, TicketNotification
from tests.orders.crashes import Crash, CrashCountdown, CrashingSender, CrashingStore
from tests.orders.order_system import EMMA, OSCAR, OrderSystem, SentMessage, rules
from tests.settlement.fake_settlement import FakeSettlement

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


@pytest.mark.parametrize("state", ["COMPLETED", "FAILED"])
async def test_what_staff_said_of_a_stuck_order_no_longer_holds_when_it_ends(system: OrderSystem, state: str) -> None:
    order = await paid(system)
    await pass_time(system, 31)
    assert await system.monitor.resolve(AlarmKind.ORDER_STUCK, order.reference, OSCAR, Outcome.PAID_OUT)
    assert (await system.order(order.reference)).outcome is Outcome.PAID_OUT
    system.service.becomes("svc-1", state)
    await pass_time(system, 1)
    assert (await system.order(order.reference)).outcome is None


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

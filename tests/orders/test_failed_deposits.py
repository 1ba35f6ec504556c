"""A failed deposit may have been paid. The sender, the staff and support are notified."""

import pytest

from bot.core.money import Amount
from bot.orders.notifications import OrderNotification
from bot.orders.order import Failure, Phase
from bot.staff.model import AlarmKind
from bot.staff.notifications import AlarmNotification
from bot.staff.repository import AlarmRepository
from bot.support.model import Cause
from bot.support.repository import TicketRepository
from tests.orders.order_system import EMMA, OSCAR, OrderSystem, rules
from tests.settlement.fake_settlement import FakeSettlement

SAT, RINA = Amount("SAT", 25_000), 3001


async def open_alarms(system: OrderSystem) -> list[AlarmKind]:
    async with system.store.reading() as tx:
        return [alarm.kind for alarm in await AlarmRepository(tx).find_open()]


@pytest.mark.parametrize("expired", [False, True])
async def test_a_deposit_that_failed_between_two_looks_raises_an_alarm_and_opens_a_ticket(
    file: str,
    service: FakeSettlement,
    expired: bool,  # noqa: FBT001
) -> None:
    system = OrderSystem(file, service, rules=rules(support_ids=frozenset({RINA})))
    if expired:
        service.answers.append({"expires_at": system.clock.now().replace(minute=30)})
    order = await system.place(amount=SAT, channel="cbbtc")
    if expired:
        system.clock.passes(hours=1)
        await system.poll(after=0)
    service.becomes(order.service_id or "", "FAILED")
    await system.poll(after=90)
    order = await system.order(order.reference)
    assert (order.phase, order.failure) == (Phase.DONE, Failure.UNKNOWN)
    assert OrderNotification.FAILED in system.sender.kinds(EMMA)
    assert AlarmNotification.RAISED in system.sender.kinds(OSCAR)
    assert await open_alarms(system) == [AlarmKind.ORDER_FAILED]
    async with system.store.reading() as tx:
        tickets = await TicketRepository(tx).of_order(order.reference)
    assert [ticket.cause for ticket in tickets] == [Cause.FAILED]
    await system.close()


async def test_a_lightning_order_that_failed_unpaid_is_no_alarm(system: OrderSystem, service: FakeSettlement) -> None:
    order = await system.place(amount=SAT)
    service.becomes(order.service_id or "", "FAILED")
    await system.poll()
    assert (await system.order(order.reference)).failure is Failure.UNPAID
    assert system.sender.kinds(OSCAR) == []
    assert await open_alarms(system) == []

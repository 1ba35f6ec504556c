"""The service's own URI of a deposit must name the address and chain that its other fields name."""

import pytest

from bot.core.money import Amount
from bot.orders.notifications import OrderNotification
from bot.orders.order import Phase
from bot.staff.notifications import AlarmNotification
from tests.orders.order_system import EMMA, OSCAR, OrderSystem
from tests.settlement.builders import SAFE_ADDRESS
from tests.settlement.fake_settlement import FakeSettlement

SAT = Amount("SAT", 25_000)
CONTRACT = "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf"
LIVE = f"ethereum:{SAFE_ADDRESS}@8453"
TRANSFER = f"ethereum:{CONTRACT}@8453/transfer?address={SAFE_ADDRESS}&uint256=25000"


@pytest.mark.parametrize("uri", [None, LIVE, TRANSFER])
async def test_a_deposit_whose_parts_agree_is_shown(
    system: OrderSystem, service: FakeSettlement, uri: str | None
) -> None:
    service.answers.append({"deposit_uri": uri})
    assert (await system.place(amount=SAT, channel="cbbtc")).phase is Phase.OPEN


@pytest.mark.parametrize("uri", ["", f"ethereum:{CONTRACT}@8453", LIVE.replace("8453", "56"), f"{TRANSFER}0"])
async def test_a_deposit_whose_parts_contradict_each_other_is_withheld_and_staff_are_alarmed(
    system: OrderSystem, service: FakeSettlement, uri: str
) -> None:
    service.answers.append({"deposit_uri": uri})
    order = await system.place(amount=SAT, channel="cbbtc")
    await system.deliver()
    assert (order.phase, order.deposit) == (Phase.ABANDONED, None)
    assert system.sender.kinds(EMMA) == [OrderNotification.NOT_SHOWN]
    assert system.sender.kinds(OSCAR) == [AlarmNotification.RAISED]

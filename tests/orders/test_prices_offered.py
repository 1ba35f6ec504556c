"""The sums that a user is offered are within every limit, and cost what the review says."""

from typing import Any

import pytest

from bot.core.money import Amount
from bot.orders.limits import Limits
from tests.orders.order_system import OrderSystem, rules
from tests.settlement.builders import BCA, GOPAY
from tests.settlement.fake_settlement import FakeSettlement

SUMS = tuple(Amount("IDR", idr) for idr in (1_500, 50_000, 500_000, 1_500_000, 30_000_000))


async def offered(system: OrderSystem, **changes: Any) -> list[int]:
    asked = {"method": BCA, "amounts": SUMS, "channel": "lightning", **changes}
    prices = await system.orders.estimate_choices(
        await system.user_orders(), asked["method"], asked["amounts"], asked["channel"]
    )
    return [amount.value for amount in prices]


async def test_only_sums_within_the_minimum_and_the_cap_are_offered(file: str, service: FakeSettlement) -> None:
    system = OrderSystem(file, service)
    assert await offered(system, method=GOPAY) == [50_000, 500_000, 1_500_000]
    assert await offered(system, method=None) == [50_000, 500_000, 1_500_000, 30_000_000]
    assert await offered(system, amounts=(Amount("SAT", 100), Amount("SAT", 25_000))) == [25_000]
    await system.close()


async def test_sums_above_what_is_left_of_the_day_are_not_offered(file: str, service: FakeSettlement) -> None:
    system = OrderSystem(file, service, rules=rules(limits=Limits(idr_per_day=700_000)))
    assert await offered(system) == [50_000, 500_000]
    await system.place()
    assert await offered(system) == [50_000]
    await system.close()


async def test_a_limit_that_time_lifts_takes_no_sum_away(file: str, service: FakeSettlement) -> None:
    system = OrderSystem(file, service, rules=rules(limits=Limits(open_orders=1)))
    await system.place()
    assert 500_000 in await offered(system)
    await system.close()


@pytest.mark.parametrize("channel", ["lightning", "cbbtc"])
async def test_the_review_has_the_price_that_was_offered(file: str, service: FakeSettlement, channel: str) -> None:
    system = OrderSystem(file, service)
    await system.place(amount=Amount("IDR", 500_000), channel=channel)
    amount = Amount("IDR", 500_000)
    prices = await system.orders.estimate_choices(await system.user_orders(), BCA, (amount,), channel)
    _, estimated = await system.review(await system.draft(amount=amount, channel=channel))
    assert prices == {amount: estimated}
    await system.close()

"""Links create few orders at a time, so that a lost order stays in the service's newest hundred and is found."""

import asyncio
from dataclasses import replace

import pytest

from bot.orders.limits import LinkLimits, TooManyFromLinks
from bot.orders.order import Order, Phase, payer_in_chat, payer_on_page
from tests.orders.order_system import EMMA, RULES, OrderSystem, rules
from tests.orders.payers import place_for
from tests.settlement.fake_settlement import FakeSettlement

USUAL = LinkLimits(from_all=30, from_one=10)


@pytest.fixture
async def system(file: str, service: FakeSettlement) -> object:
    """Orders with the usual limits of links."""
    system = OrderSystem(file, service, rules=rules(link_limits=USUAL))
    yield system
    await system.close()


async def test_one_link_creates_ten_orders_and_all_links_thirty_in_any_hundred_seconds(
    system: OrderSystem, service: FakeSettlement
) -> None:
    for link in range(3):
        for payer in range(10):
            await place_for(system, payer_in_chat(9_000 + payer), origin=f"link {link}")
        with pytest.raises(TooManyFromLinks, match=r"orders\.limits\.links"):
            await place_for(system, payer_in_chat(EMMA), origin=f"link {link}")
    with pytest.raises(TooManyFromLinks):
        await place_for(system, payer_on_page("one more"), origin="link 3")
    assert service.times("place") == 30
    system.clock.passes(seconds=99.9)
    with pytest.raises(TooManyFromLinks):
        await place_for(system, payer_in_chat(EMMA), origin="link 3")
    system.clock.passes(seconds=0.1)
    assert (await place_for(system, payer_in_chat(EMMA), origin="link 0")).phase is Phase.OPEN


async def test_two_processes_together_create_no_more(database: str, service: FakeSettlement) -> None:
    limits = LinkLimits(from_all=7, from_one=4)
    systems = [OrderSystem(database, service, rules=replace(RULES, link_limits=limits)) for _ in range(2)]
    results = await asyncio.gather(
        *(
            place_for(systems[n % 2], payer_on_page(f"page {n}"), origin=f"link {n % 3}", draft_id=str(n))
            for n in range(24)
        ),
        return_exceptions=True,
    )
    placed = [each for each in results if isinstance(each, Order)]
    assert len(placed) == service.times("place") == 7
    assert max(sum(each.origin == f"link {link}" for each in placed) for link in range(3)) <= 4
    assert {type(each) for each in results} == {Order, TooManyFromLinks}
    for system in systems:
        await system.close()


async def test_a_thousand_starts_of_links_don_t_push_a_lost_order_out_of_the_list(
    system: OrderSystem, service: FakeSettlement
) -> None:
    # The answer to an ordinary order is lost, and the service lists it only a minute later.
    service.places.append("lost_after")
    lost = await system.place()
    service.listed = False
    refused = 0
    for n in range(1_000):
        try:
            await place_for(system, payer_in_chat(10_000 + n), origin=f"link {n % 20}")
        except TooManyFromLinks:
            refused += 1
        system.clock.passes(seconds=0.055)
    assert (service.times("place"), refused) == (31, 970)
    assert (await system.order(lost.reference)).phase is Phase.UNKNOWN
    service.listed = True
    await system.find_lost_orders()
    found = await system.order(lost.reference)
    assert (found.phase, found.service_id) == (Phase.OPEN, "svc-1")

"""A user's limits apply in every process and at every attempt. A rejected draft can be placed later."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from bot.checkout.draft import DraftStatus
from bot.core.errors import Rejection
from bot.core.money import Amount
from bot.orders.limits import Limits
from bot.orders.order import Phase
from tests.harness.databases import on_postgresql
from tests.orders.order_system import EMMA, OrderSystem, place_unresolved, rules
from tests.settlement.builders import a_report
from tests.settlement.fake_settlement import FakeSettlement


def with_limits(file: str, service: FakeSettlement, **limits: int) -> OrderSystem:
    return OrderSystem(file, service, rules=rules(limits=Limits(**limits)))


async def refused(system: OrderSystem, *args: Any, **changes: Any) -> Rejection:
    with pytest.raises(Rejection) as caught:
        await system.place(*args, **changes)
    return caught.value


async def test_one_order_too_many_is_refused_before_anything_is_asked_and_its_draft_stays_open(
    file: str, service: FakeSettlement
) -> None:
    system = with_limits(file, service, open_orders=2)
    await system.place()
    await system.place()
    draft = await system.draft()
    with pytest.raises(Rejection, match=r"orders\.limits\.open"):
        await system.confirm(draft)
    assert service.times("place") == 2
    kept = await system.drafts.get(draft.id)
    assert kept is not None
    assert (kept.status, kept.revision) == (DraftStatus.OPEN, draft.revision)
    system.clock.passes(hours=1)
    placed = await system.confirm(kept)
    assert placed.phase is Phase.INTENDED
    await system.close()


async def test_a_paid_order_frees_its_place_and_goes_on_counting_towards_the_day(
    file: str, service: FakeSettlement
) -> None:
    system = with_limits(file, service, open_orders=1, idr_per_day=400_000)
    order = await system.place()
    await system.apply_report(order.reference, a_report(service_id="svc-1", state="COMPLETED"))
    rejection = await refused(system)
    assert (rejection.key, rejection.arguments["remaining"]) == ("orders.amount.day_remaining", 150_000)
    await system.place(amount=Amount("IDR", 150_000))
    await system.close()


@pytest.mark.parametrize("is_paid", [False, True])
async def test_a_deposit_counts_towards_the_day_while_it_can_be_paid_and_a_day_from_its_payment(
    file: str,
    service: FakeSettlement,
    is_paid: bool,  # noqa: FBT001
) -> None:
    system = with_limits(file, service, idr_per_day=400_002)
    order = await system.place(channel="cbbtc")
    assert (order.expires_at, order.idr) == (None, 250_002)
    system.clock.passes(hours=71)
    if is_paid:
        await system.apply_report(order.reference, a_report(service_id="svc-1", state="COMPLETED"))
    system.clock.passes(hours=1)
    rejection = await refused(system)
    assert (rejection.key, rejection.arguments["remaining"]) == ("orders.amount.day_remaining", 150_000)
    counts_until = system.clock.now() + (timedelta(hours=23) if is_paid else timedelta(days=4))
    assert rejection.arguments["again"] == counts_until
    system.clock.at = counts_until
    await system.place()
    await system.close()


async def test_trying_again_takes_the_lost_orders_own_place(file: str, service: FakeSettlement) -> None:
    system = with_limits(file, service, open_orders=1, idr_per_day=250_000)
    lost = await place_unresolved(system, service)
    again = await system.orders.try_again(lost.reference)
    assert again is not None
    await system.orders.submission.wait()
    assert (await system.order(again.reference)).phase is Phase.OPEN
    await system.close()


@on_postgresql
async def test_two_processes_on_postgresql_cannot_pass_together(database: str, service: FakeSettlement) -> None:
    first = with_limits(database, service, open_orders=3)
    second = with_limits(database, service, open_orders=3)
    await confirm_together(first, second)
    await first.close()
    await second.close()


async def confirm_together(first: OrderSystem, second: OrderSystem) -> None:
    """Confirm eight drafts of one user in eight chats at the same moment, and other users' drafts beside them."""
    systems = [first, second] * 4
    drafts = [await one_of_emmas(system, chat) for chat, system in enumerate(systems, start=5000)]
    placing = [system.confirm(draft) for system, draft in zip(systems, drafts, strict=True)]
    others = [system.confirm(await system.draft(chat)) for chat, system in enumerate(systems, start=6000)]
    results = await asyncio.gather(*placing, *others, return_exceptions=True)
    refusals = [result for result in results if isinstance(result, BaseException)]
    assert [str(refusal) for refusal in refusals] == ["orders.limits.open"] * 5
    for system in (first, second):
        await system.orders.submission.wait()
    assert len(await first.all_orders()) == 3


async def one_of_emmas(system: OrderSystem, chat_id: int) -> Any:
    return await system.draft(chat_id, user_id=EMMA)
